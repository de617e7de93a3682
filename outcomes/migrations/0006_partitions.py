"""Keys begin with the environment, and tables are partitioned by its hash. Outcomes lose their row ids."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from wire.migrations._partition import list_hash_partitions, partition_table

BY_ENVIRONMENT = "HASH (environment_id)"
TALLY_KEY = "environment_id, grain, {key}, starts_at, lane"
KEYS = {
    "outcomes_conversation": "environment_id, id",
    "outcomes_tally": TALLY_KEY.format(key="outcome_key"),
    "outcomes_apikeytally": TALLY_KEY.format(key="api_key"),
}


def partition(apps: Any, schema_editor: Any) -> None:
    for table, key in KEYS.items():
        partition_table(schema_editor, table, by=BY_ENVIRONMENT, key=key, partitions=list_hash_partitions())
    partition_table(
        schema_editor,
        "outcomes_outcome",
        by=BY_ENVIRONMENT,
        key="environment_id, conversation_id, outcome_key",
        partitions=list_hash_partitions(),
        without=("id",),
        without_constraints=("one_outcome_per_conversation_and_key",),
    )


class Migration(migrations.Migration):
    dependencies = [("outcomes", "0005_shards"), ("wire", "0002_keyed_hashes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(partition)],
            state_operations=[
                migrations.RemoveConstraint(model_name="outcome", name="one_outcome_per_conversation_and_key"),
                migrations.RemoveField(model_name="outcome", name="conversation"),
                migrations.RemoveField(model_name="outcome", name="id"),
                migrations.AddField(
                    model_name="outcome",
                    name="conversation_id",
                    field=models.BigIntegerField(),
                    preserve_default=False,
                ),
                migrations.AddField(
                    model_name="outcome",
                    name="conversation",
                    field=models.ForeignObject(
                        from_fields=["environment", "conversation_id"],
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcomes",
                        to="outcomes.conversation",
                        to_fields=["environment", "id"],
                    ),
                ),
                migrations.AddField(
                    model_name="outcome",
                    name="pk",
                    field=models.CompositePrimaryKey(
                        "environment_id",
                        "conversation_id",
                        "outcome_key",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
            ],
        )
    ]
