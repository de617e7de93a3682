"""The inbox is partitioned by month; the ids of its reports, which are unique for longer, get a table of their own."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from wire.migrations._partition import partition_by_month

COPY_IDS = """
INSERT INTO catalog_witnessreportid (workspace_id, report_id, digest, received_at)
SELECT workspace_id, report_id, digest, received_at FROM catalog_witnessreport;
SET CONSTRAINTS ALL IMMEDIATE
"""


def partition(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("LOCK TABLE catalog_witnessreport IN ACCESS EXCLUSIVE MODE;" + COPY_IDS)
    partition_by_month(
        schema_editor,
        "catalog_witnessreport",
        time="received_at",
        owner="environment_id",
        without=("workspace_id", "digest"),
        without_indexes=("catalog_witnessreport_environment_id", "catalog_witnessreport_received_at"),
    )


class Migration(migrations.Migration):
    dependencies = [("catalog", "0013_keys"), ("workspaces", "0006_keys")]

    operations = [
        migrations.CreateModel(
            name="WitnessReportId",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace_id", "report_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("report_id", models.UUIDField()),
                ("digest", models.BinaryField(max_length=32)),
                ("received_at", models.DateTimeField(db_index=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(partition)],
            state_operations=[
                migrations.RemoveConstraint(model_name="witnessreport", name="one_report_per_id"),
                migrations.RemoveField(model_name="witnessreport", name="digest"),
                migrations.RemoveField(model_name="witnessreport", name="workspace"),
                migrations.AlterField(
                    model_name="witnessreport",
                    name="environment",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="witness_reports",
                        to="workspaces.environment",
                    ),
                ),
                migrations.AlterField(
                    model_name="witnessreport", name="received_at", field=models.DateTimeField()
                ),
            ],
        ),
    ]
