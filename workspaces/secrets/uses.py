"""Which backend verifies with which signing secret: counted from verification reports and hosted verification."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from workspaces.models import ApiKey, Environment

ADD_USES = """
INSERT INTO workspaces_secretuse AS use (secret_id, environment_id, api_key_id, count, last_at)
SELECT secret.id, %s, %s, added.count, added.last_at
  FROM unnest(%s::text[], %s::bigint[], %s::timestamptz[]) AS added (prefix, count, last_at)
  JOIN workspaces_signingsecret AS secret ON secret.workspace_id = %s AND secret.prefix = added.prefix
 ORDER BY secret.id
    ON CONFLICT (secret_id, environment_id, api_key_id)
    DO UPDATE SET count = use.count + excluded.count, last_at = greatest(use.last_at, excluded.last_at)
"""


class SecretUses(NamedTuple):
    """What a report adds to one secret: verifications, and the time of the last."""

    count: int
    last_at: datetime


def record_uses(environment: Environment, key: ApiKey, uses: Mapping[str, SecretUses]) -> None:
    """Add verifications to those of a key in an environment, by the first characters of the secret that verified.

    Secrets that the workspace never had are not counted: a backend may hold others.
    """
    if not uses:
        return
    counts, moments = zip(*uses.values(), strict=True)
    rows = [list(uses), list(counts), list(moments)]
    with connection.cursor() as cursor:
        cursor.execute(ADD_USES, [environment.pk, key.pk, *rows, environment.workspace_id])
