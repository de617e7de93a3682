"""Rejections are found by their tool call: an index in each partition, each made without keeping writers waiting."""

from typing import Any

from django.db import migrations, models

INDEX = "rejections_of_a_tool_call"
COLUMNS = "(environment_id, tool_call_id)"
SELECT_PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree('intents_rejection') WHERE isleaf"


def create_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY intents_rejection {COLUMNS}")
        cursor.execute(SELECT_PARTITIONS)
        for (partition,) in cursor.fetchall():
            cursor.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {partition}_call ON {partition} {COLUMNS}")
            cursor.execute(f"ALTER INDEX {INDEX} ATTACH PARTITION {partition}_call")


def drop_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("intents", "0007_time_to_undo_a_decision")]

    operations = [
        migrations.RunPython(create_indexes, drop_indexes),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    model_name="rejection",
                    index=models.Index(fields=["environment", "tool_call_id"], name=INDEX),
                )
            ],
        ),
    ]
