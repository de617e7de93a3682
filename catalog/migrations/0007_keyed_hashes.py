"""Digests of reports become keyed hashes."""

from typing import Any

from django.db import migrations

from wire.migrations._rehash import rehash_column


def rehash(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("catalog", "WitnessReport").objects.values_list("pk", "workspace_id", "digest")
    rehash_column(schema_editor, rows.iterator(chunk_size=2000), "catalog_witnessreport", "digest")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0006_plain_audit_actions")]
    operations = [migrations.RunPython(rehash)]
