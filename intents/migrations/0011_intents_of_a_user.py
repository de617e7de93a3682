"""Intents are listed by their user: an index in each partition, each made without keeping writers waiting."""

from typing import Any

from django.db import migrations, models

INDEX = "intents_of_a_user"
COLUMNS = "(environment_id, sub, issued_at, id)"
SELECT_PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree('intents_mintedintent') WHERE isleaf"


def create_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY intents_mintedintent {COLUMNS}")
        cursor.execute(SELECT_PARTITIONS)
        for (partition,) in cursor.fetchall():
            cursor.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {partition}_user ON {partition} {COLUMNS}")
            cursor.execute(f"ALTER INDEX {INDEX} ATTACH PARTITION {partition}_user")


def drop_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("intents", "0010_intents_with_step_up")]

    operations = [
        migrations.RunPython(create_indexes, drop_indexes),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    model_name="mintedintent",
                    index=models.Index(fields=["environment", "sub", "issued_at", "id"], name=INDEX),
                )
            ],
        ),
    ]
