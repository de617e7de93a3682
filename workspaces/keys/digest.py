"""Find an API key by its digest, with its workspace and environments, for every request of a machine.

It is one prepared statement: the ORM would take three times as long to build the query as the query takes to run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.db import models

from wire.postgresql.prepared_statements import open_prepared_cursor
from workspaces.models import ApiKey, Environment, Workspace

Row = TypeVar("Row", bound=models.Model)


def _list_columns(model: type[models.Model], alias: str) -> str:
    return ", ".join(f"{alias}.{field.column}" for field in model._meta.concrete_fields)


SELECT_SECRET_KEY = f"""
SELECT {_list_columns(ApiKey, "key")}, {_list_columns(Workspace, "workspace")}, {
    _list_columns(Environment, "environment")
}
FROM workspaces_apikey AS key
JOIN workspaces_workspace AS workspace ON workspace.id = key.workspace_id
JOIN workspaces_environment AS environment ON environment.workspace_id = workspace.id
    AND environment.archived_at IS NULL
WHERE key.digest = %(digest)s AND key.kind = '{ApiKey.SECRET}' AND key.revoked_at IS NULL
ORDER BY environment.id
"""
SELECT_KEY_ID = "SELECT id FROM workspaces_apikey WHERE digest = %(digest)s"
FIELD_NAMES: dict[type[models.Model], list[str]] = {
    model: [field.attname for field in model._meta.concrete_fields] for model in (ApiKey, Workspace, Environment)
}


def hash_key(key: str) -> bytes:
    """Return the SHA-256 of a key: it has 154 random bits, so a slow hash would not protect it better."""
    return hashlib.sha256(key.encode()).digest()


def find_secret_key(digest: bytes) -> ApiKey | None:
    """Return the secret key of this digest with its workspace and environments; None if unknown or revoked."""
    with open_prepared_cursor() as cursor:
        cursor.execute(SELECT_SECRET_KEY, {"digest": digest})
        rows = [_load_row(row) for row in cursor.fetchall()]
    if not rows:
        return None
    key, workspace, _ = rows[0]
    key.workspace = workspace
    key.scopes = json.loads(key.scopes)
    key.environments = {environment.name: environment for _, _, environment in rows}
    for environment in key.environments.values():
        environment.workspace = workspace
    return key


def find_key_id(digest: bytes) -> int | None:
    """Return the row id of the key of this digest, also if it is publishable, expired or revoked; None if unknown."""
    with open_prepared_cursor() as cursor:
        cursor.execute(SELECT_KEY_ID, {"digest": digest})
        row = cursor.fetchone()
    return row[0] if row else None


def _load_row(row: Sequence[Any]) -> tuple[ApiKey, Workspace, Environment]:
    values = iter(row)
    return _load_model(ApiKey, values), _load_model(Workspace, values), _load_model(Environment, values)


def _load_model(model: type[Row], values: Iterator[Any]) -> Row:
    names = FIELD_NAMES[model]
    return model.from_db("default", names, list(islice(values, len(names))))
