"""The key of a kept answer begins with its workspace."""

from typing import Any

from django.db import migrations

from wire.migrations._keys import promote_unique

TABLE, UNIQUE = "wire_idempotentanswer", "one_answer_per_idempotency_key"


def rewrite_keys(apps: Any, schema_editor: Any) -> None:
    promote_unique(schema_editor, TABLE, UNIQUE, "workspace_id, endpoint, key")


class Migration(migrations.Migration):
    dependencies = [("wire", "0002_keyed_hashes")]
    operations = [migrations.RunPython(rewrite_keys)]
