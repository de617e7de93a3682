"""The changes of one operation are found by environment and operation."""

from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("catalog", "0015_acknowledged_drift")]

    operations = [
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS drift_of_operation"
            " ON catalog_drift (environment_id, operation_id, id DESC)",
            "DROP INDEX CONCURRENTLY IF EXISTS drift_of_operation",
            state_operations=[
                migrations.AddIndex(
                    model_name="drift",
                    index=models.Index(fields=["environment", "operation", "-id"], name="drift_of_operation"),
                )
            ],
        )
    ]
