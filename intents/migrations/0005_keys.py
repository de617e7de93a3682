"""Keys begin with the environment, or of report ids with the workspace."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from wire.migrations._keys import prefix_key, promote_unique


def rewrite_keys(apps: Any, schema_editor: Any) -> None:
    prefix_key(schema_editor, "intents_confirmation", "environment_id")
    prefix_key(schema_editor, "intents_verificationtally", "environment_id", find_by_id=False)
    promote_unique(
        schema_editor, "intents_verificationreport", "one_verification_report_per_id", "workspace_id, report_id"
    )


class Migration(migrations.Migration):
    dependencies = [("intents", "0004_verification_rollup"), ("wire", "0003_keys")]

    operations = [
        migrations.AlterField(
            model_name="verificationreport",
            name="workspace",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="workspaces.workspace",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(rewrite_keys)],
            state_operations=[
                migrations.AlterField(
                    model_name="mintedintent",
                    name="confirmation",
                    field=models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="intents",
                        to="intents.confirmation",
                    ),
                ),
            ],
        ),
    ]
