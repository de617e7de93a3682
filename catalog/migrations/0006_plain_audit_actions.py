from typing import Any

from django.db import migrations

PLAIN_ACTIONS = {
    "map rule taken back": "map rule undone",
    "operation started afresh": "baseline reset",
    "fresh start taken back": "baseline reset undone",
    "template rule taken back": "template rule undone",
    "redaction rule taken back": "redaction rule undone",
}


def rename_actions(apps: Any, schema_editor: Any) -> None:
    """Rename the actions of earlier entries to the words of the pages."""
    entries = apps.get_model("workspaces", "AuditEntry").objects
    for former, plain in PLAIN_ACTIONS.items():
        entries.filter(action=former).update(action=plain)


class Migration(migrations.Migration):

    dependencies = [
        ("catalog", "0005_names"),
        ("workspaces", "0002_people_keys_and_limits"),
    ]

    operations = [migrations.RunPython(rename_actions, migrations.RunPython.noop)]
