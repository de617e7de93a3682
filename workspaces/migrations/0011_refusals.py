"""Count the requests of each key that the hub refused, by hour. The key of the table begins with the workspace."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspaces', '0010_shared_links'),
    ]

    operations = [
        migrations.CreateModel(
            name='RefusalTally',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'api_key_id', 'endpoint', 'code', 'starts_at', blank=True, editable=False, primary_key=True, serialize=False)),
                ('endpoint', models.CharField(max_length=100)),
                ('code', models.CharField(max_length=40)),
                ('starts_at', models.DateTimeField()),
                ('count', models.BigIntegerField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('api_key', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.apikey')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.workspace')),
            ],
            options={
                'verbose_name_plural': 'hours with refused requests',
            },
        ),
    ]
