"""Keys begin with the environment, or of redaction rules with the workspace."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from wire.migrations._keys import add_environment, prefix_key

PARTS = ("catalog_operationpart", "catalog_operationversion", "catalog_freshstart", "catalog_maprule")
TABLES = (
    "catalog_operation",
    *PARTS,
    "catalog_operationday",
    "catalog_drift",
    "catalog_excessoperation",
    "catalog_hintrule",
    "catalog_keptdocument",
    "catalog_templaterule",
)
UNIQUE = (
    ("catalog_operationpart", "one_evidence_per_part", "NULLS NOT DISTINCT", "operation_id, part, status, epoch"),
    ("catalog_operationversion", "one_version_per_number", "", "operation_id, number"),
    ("catalog_freshstart", "one_fresh_start_per_epoch", "", "operation_id, epoch"),
)
ENVIRONMENT = models.ForeignKey(
    db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="workspaces.environment"
)


def rewrite_keys(apps: Any, schema_editor: Any) -> None:
    for table in PARTS:
        add_environment(schema_editor, table, "catalog_operation", "operation_id")
    for table in TABLES:
        prefix_key(schema_editor, table, "environment_id")
    prefix_key(schema_editor, "catalog_redactionrule", "workspace_id")
    with schema_editor.connection.cursor() as cursor:
        for table, name, nulls, columns in UNIQUE:
            cursor.execute(
                f"ALTER TABLE {table} DROP CONSTRAINT {name},"
                f" ADD CONSTRAINT {name} UNIQUE {nulls} (environment_id, {columns})"
            )


def point_to_operation(model_name: str, related_name: str) -> migrations.AlterField:
    """In the database the foreign key has two columns, environment and operation; the models have only the operation."""
    field = models.ForeignKey(
        db_constraint=False,
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        to="catalog.operation",
    )
    return migrations.AlterField(model_name=model_name, name="operation", field=field)


class Migration(migrations.Migration):
    dependencies = [("catalog", "0012_observations_by_day"), ("wire", "0003_keys"), ("workspaces", "0004_secret_uses")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(rewrite_keys)],
            state_operations=[
                migrations.RemoveConstraint(model_name="baselinereset", name="one_fresh_start_per_epoch"),
                migrations.RemoveConstraint(model_name="operationpart", name="one_evidence_per_part"),
                migrations.RemoveConstraint(model_name="operationversion", name="one_version_per_number"),
                *(
                    migrations.AddField(model_name=name, name="environment", field=ENVIRONMENT, preserve_default=False)
                    for name in ("baselinereset", "maprule", "operationpart", "operationversion")
                ),
                point_to_operation("baselinereset", "baseline_resets"),
                point_to_operation("drift", "drift"),
                point_to_operation("maprule", "map_rules"),
                point_to_operation("operationday", "days"),
                point_to_operation("operationpart", "parts"),
                point_to_operation("operationversion", "versions"),
                migrations.AlterField(
                    model_name="baselinereset",
                    name="through",
                    field=models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="caused",
                        to="catalog.baselinereset",
                    ),
                ),
                migrations.AlterField(
                    model_name="operation",
                    name="shown_under",
                    field=models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shown_here",
                        to="catalog.operation",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="baselinereset",
                    constraint=models.UniqueConstraint(
                        fields=("environment", "operation", "epoch"), name="one_fresh_start_per_epoch"
                    ),
                ),
                migrations.AddConstraint(
                    model_name="operationpart",
                    constraint=models.UniqueConstraint(
                        fields=("environment", "operation", "part", "status", "epoch"),
                        name="one_evidence_per_part",
                        nulls_distinct=False,
                    ),
                ),
                migrations.AddConstraint(
                    model_name="operationversion",
                    constraint=models.UniqueConstraint(
                        fields=("environment", "operation", "number"), name="one_version_per_number"
                    ),
                ),
            ],
        )
    ]
