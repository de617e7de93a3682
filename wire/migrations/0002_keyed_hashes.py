"""Replace digests of bodies by keyed hashes; delete kept answers of hosted verification with unencrypted intents."""

from typing import Any

from django.db import migrations

from wire.migrations._rehash import rehash_column


def rehash(apps: Any, schema_editor: Any) -> None:
    answers = apps.get_model("wire", "IdempotentAnswer").objects
    answers.filter(endpoint="Verifications", encrypted=False).delete()
    rows = answers.values_list("pk", "workspace_id", "body_digest")
    rehash_column(schema_editor, rows.iterator(chunk_size=2000), "wire_idempotentanswer", "body_digest")


class Migration(migrations.Migration):
    dependencies = [("wire", "0001_initial")]
    operations = [migrations.RunPython(rehash)]
