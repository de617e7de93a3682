"""The audit log is partitioned by month. Entries of the whole hub have an empty workspace instead of none."""

from typing import Any

from django.db import migrations, models

from wire.migrations._partition import partition_by_month


def partition(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("UPDATE workspaces_auditentry SET workspace_id = '' WHERE workspace_id IS NULL")
    partition_by_month(
        schema_editor,
        "workspaces_auditentry",
        time="at",
        owner="workspace_id",
        without_indexes=("workspaces__workspa_f6c5d9_idx", "workspaces_auditentry_workspace_id"),
    )


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0006_keys")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(partition)],
            state_operations=[
                migrations.RemoveIndex(model_name="auditentry", name="workspaces__workspa_f6c5d9_idx"),
                migrations.RemoveField(model_name="auditentry", name="workspace"),
                migrations.AddField(
                    model_name="auditentry",
                    name="workspace_id",
                    field=models.CharField(blank=True, max_length=40),
                    preserve_default=False,
                ),
            ],
        )
    ]
