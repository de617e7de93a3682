
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspaces', '0003_attempts_and_sessions'),
    ]

    operations = [
        migrations.CreateModel(
            name='SecretUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('count', models.BigIntegerField()),
                ('last_at', models.DateTimeField()),
                ('api_key', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.apikey')),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.environment')),
                ('secret', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='workspaces.signingsecret')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('secret', 'environment', 'api_key'), name='one_use_per_secret_and_key')],
            },
        ),
    ]
