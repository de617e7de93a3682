"""Keys look alike also if they differ in marks that cannot be seen, or in how an accent is encoded: a new index.

It is made in each partition, without keeping writers waiting, and replaces the index by the earlier form of keys.
"""

from typing import Any

from django.db import migrations, models

FORM = (
    'translate(lower(normalize(%(expressions)s) COLLATE "default"), '
    r"U&'-_ \0009\000A\000D\00A0\200B\200E\200F\2060\FEFF', '')"
)
INDEX = "alike_keys"
COLUMNS = f"(environment_id, ({FORM % {'expressions': 'outcome_key'}})) WHERE grain = 'm'"
SELECT_PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree('outcomes_tally') WHERE isleaf"


def create_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {INDEX} ON ONLY outcomes_tally {COLUMNS}")
        cursor.execute(SELECT_PARTITIONS)
        for (partition,) in cursor.fetchall():
            name = f"{partition}_alike_keys"
            cursor.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {partition} {COLUMNS}")
            cursor.execute(f"ALTER INDEX {INDEX} ATTACH PARTITION {name}")


def drop_indexes(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("outcomes", "0007_broken_by_last_report")]

    operations = [
        migrations.RunPython(create_indexes, drop_indexes),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    model_name="tally",
                    index=models.Index(
                        models.F("environment"),
                        models.Func(models.F("outcome_key"), template=FORM),
                        condition=models.Q(("grain", "m")),
                        name=INDEX,
                    ),
                )
            ],
        ),
        migrations.RemoveIndex(model_name="tally", name="keys_by_form"),
    ]
