"""From a key's digest to the key, its workspace and its environments: read anew for every request of a machine.

One statement that the server plans once: the ORM would take three times as long to word it as it takes to run.
"""

from __future__ import annotations

import json

from django.db import models

from wire.prepared_statements import prepared_cursor
from workspaces.models import ApiKey, Environment, Workspace


def columns(model: type[models.Model]) -> list[str]:
    return [field.column for field in model._meta.concrete_fields]


def selected(model: type[models.Model], alias: str) -> str:
    return ", ".join(f"{alias}.{column}" for column in columns(model))


LIVE_KEY = f"""
SELECT {selected(ApiKey, "key")}, {selected(Workspace, "workspace")}, {selected(Environment, "environment")}
FROM workspaces_apikey AS key
JOIN workspaces_workspace AS workspace ON workspace.id = key.workspace_id
JOIN workspaces_environment AS environment ON environment.workspace_id = workspace.id
WHERE key.digest = %(digest)s AND key.kind = '{ApiKey.SECRET}' AND key.revoked_at IS NULL
ORDER BY environment.id
"""
PARTS = [
    (model, [field.attname for field in model._meta.concrete_fields]) for model in (ApiKey, Workspace, Environment)
]


def live_key(digest: bytes) -> ApiKey | None:
    """The secret key of this digest; None where there is none or it was revoked."""
    with prepared_cursor() as cursor:
        cursor.execute(LIVE_KEY, {"digest": digest})
        found = [read(row) for row in cursor.fetchall()]
    if not found:
        return None
    key, workspace, _ = found[0]
    key.workspace = workspace
    key.scopes = json.loads(key.scopes)
    key.environments = {environment.name: environment for _, _, environment in found}
    for environment in key.environments.values():
        environment.workspace = workspace
    return key


def read(row: tuple) -> list[models.Model]:
    """A row of LIVE_KEY as its three parts."""
    parts, begin = [], 0
    for model, names in PARTS:
        parts.append(model.from_db("default", names, row[begin : begin + len(names)]))
        begin += len(names)
    return parts
