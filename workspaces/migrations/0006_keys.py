"""The keys of a secret's uses begin with the environment."""

from typing import Any

from django.db import migrations, models

from wire.migrations._keys import prefix_key

UNIQUE = "one_use_per_secret_and_key"


def rewrite_keys(apps: Any, schema_editor: Any) -> None:
    prefix_key(schema_editor, "workspaces_secretuse", "environment_id")


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0005_retention_of_days"), ("wire", "0003_keys")]

    operations = [
        migrations.RunPython(rewrite_keys),
        migrations.RemoveConstraint(model_name="secretuse", name=UNIQUE),
        migrations.AddConstraint(
            model_name="secretuse",
            constraint=models.UniqueConstraint(fields=("environment", "secret", "api_key"), name=UNIQUE),
        ),
    ]
