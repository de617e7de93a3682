"""Broken joins are found by their last report: an index in each partition, each made without keeping writers waiting."""

from typing import Any

from django.db import migrations, models

INDEX = "broken_by_last_report"
COLUMNS = "(environment_id, last_reported_at, first_reported_at) WHERE broken"
SELECT_PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree('outcomes_outcome') WHERE isleaf"


def create_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY outcomes_outcome {COLUMNS}")
        cursor.execute(SELECT_PARTITIONS)
        for (partition,) in cursor.fetchall():
            name = f"{partition}_last_report"
            cursor.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {partition} {COLUMNS}")
            cursor.execute(f"ALTER INDEX {INDEX} ATTACH PARTITION {name}")


def drop_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("outcomes", "0006_partitions")]

    operations = [
        migrations.RunPython(create_indexes, drop_indexes),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    model_name="outcome",
                    index=models.Index(
                        condition=models.Q(("broken", True)),
                        fields=["environment", "last_reported_at", "first_reported_at"],
                        name=INDEX,
                    ),
                )
            ],
        ),
    ]
