"""Intents that ask for step-up are listed and counted: an index in each partition, each made without keeping writers waiting."""

from typing import Any

from django.db import migrations, models

INDEX = "intents_with_step_up"
COLUMNS = "(environment_id, issued_at, id) WHERE requires_step_up"
SELECT_PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree('intents_mintedintent') WHERE isleaf"


def create_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY intents_mintedintent {COLUMNS}")
        cursor.execute(SELECT_PARTITIONS)
        for (partition,) in cursor.fetchall():
            cursor.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {partition}_step_up ON {partition} {COLUMNS}")
            cursor.execute(f"ALTER INDEX {INDEX} ATTACH PARTITION {partition}_step_up")


def drop_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("intents", "0009_reporter_of_a_rejection")]

    operations = [
        migrations.RunPython(create_indexes, drop_indexes),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    model_name="mintedintent",
                    index=models.Index(
                        fields=["environment", "issued_at", "id"],
                        condition=models.Q(requires_step_up=True),
                        name=INDEX,
                    ),
                )
            ],
        ),
    ]
