"""Add annotations, which charts mark, and their retention. Their key begins with the workspace."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspaces', '0007_months'),
    ]

    operations = [
        migrations.AddField(
            model_name='retentionpolicy',
            name='annotations',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('text', models.CharField(max_length=200)),
                ('url', models.CharField(blank=True, max_length=2000)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.CharField(max_length=150)),
                ('environment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.environment')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='workspaces.workspace')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['workspace', '-at', '-id'], name='latest_annotations')],
            },
        ),
        migrations.RunSQL(
            "ALTER TABLE workspaces_annotation DROP CONSTRAINT workspaces_annotation_pkey, ADD PRIMARY KEY (workspace_id, id)",
            migrations.RunSQL.noop,
        ),
    ]
