from django.db import migrations, models
from django.db.migrations.operations.base import Operation


def primary_key(*names: str) -> models.CompositePrimaryKey:
    return models.CompositePrimaryKey(*names, blank=True, editable=False, primary_key=True, serialize=False)


def rename_lane(model_name: str, key: str) -> list[Operation]:
    """A field of a composite key cannot be renamed: it is removed and added, in the state only."""
    new_key = primary_key("environment_id", "grain", key, "starts_at", "shard")
    return [
        migrations.RemoveField(model_name=model_name, name="pk"),
        migrations.RemoveField(model_name=model_name, name="lane"),
        migrations.AddField(model_name=model_name, name="shard", field=models.SmallIntegerField(db_column="lane")),
        migrations.AddField(model_name=model_name, name="pk", field=new_key),
    ]


class Migration(migrations.Migration):

    dependencies = [
        ("outcomes", "0004_keys_to_search"),
    ]

    # The column stays `lane`; only the models call it a shard.
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *rename_lane("tally", "outcome_key"),
                *rename_lane("apikeytally", "api_key"),
            ]
        )
    ]
