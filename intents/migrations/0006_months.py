"""Rejections and minted intents are partitioned by month. Their primary keys replace the indexes for reading the latest rows."""

from typing import Any

from django.db import migrations

from wire.migrations._partition import partition_by_month


def partition(apps: Any, schema_editor: Any) -> None:
    partition_by_month(
        schema_editor,
        "intents_rejection",
        time="occurred_at",
        owner="environment_id",
        without_indexes=("rejections_latest_first",),
    )
    partition_by_month(
        schema_editor,
        "intents_mintedintent",
        time="issued_at",
        owner="environment_id",
        without_indexes=("intents_latest_first",),
    )


class Migration(migrations.Migration):
    dependencies = [("intents", "0005_keys")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(partition)],
            state_operations=[
                migrations.RemoveIndex(model_name="rejection", name="rejections_latest_first"),
                migrations.RemoveIndex(model_name="mintedintent", name="intents_latest_first"),
            ],
        )
    ]
