"""Hashes of arguments and digests of reports become keyed hashes."""

from typing import Any

from django.db import migrations, models

from wire.migrations._rehash import rehash_column

COLUMNS = (
    ("Confirmation", "intents_confirmation", "args_hash", "environment__workspace_id"),
    ("MintedIntent", "intents_mintedintent", "args_hash", "environment__workspace_id"),
    ("VerificationReport", "intents_verificationreport", "digest", "workspace_id"),
)


def rehash(apps: Any, schema_editor: Any) -> None:
    for model, table, column, workspace_id in COLUMNS:
        rows = apps.get_model("intents", model).objects.values_list("pk", workspace_id, column)
        rehash_column(schema_editor, rows.iterator(chunk_size=2000), table, column)


class Migration(migrations.Migration):
    dependencies = [("intents", "0002_gate"), ("workspaces", "0002_people_keys_and_limits")]
    operations = [
        migrations.AddField("confirmation", "encrypted_args_hash", models.BinaryField(null=True)),
        migrations.AddIndex(
            "confirmation",
            models.Index(
                name="args_hashes_to_forget",
                fields=["expires_at"],
                condition=models.Q(("encrypted_args_hash__isnull", False)),
            ),
        ),
        migrations.RunPython(rehash),
    ]
