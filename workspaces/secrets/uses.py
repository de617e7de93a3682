"""Count which backend verifies with which signing secret, from reports and from POST /api/intents/verify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from django.db import connection
from django.utils.text import get_text_list

from workspaces.models import ApiKey, Environment, SecretUse, SigningSecret, Workspace
from workspaces.secrets.rotate import find_signer

RECENT = timedelta(days=7)  # a rotation does not wait for a backend that has not verified for longer

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
    """The verifications that a report adds to one secret, and the time of the last one."""

    total: int
    last_at: datetime


def record_uses(environment: Environment, key: ApiKey, uses: Mapping[str, SecretUses]) -> None:
    """Add the verifications that a key reported in an environment, by the first characters of the secret that verified.

    Secrets that the workspace never had are not counted: a backend may hold others.
    """
    if not uses:
        return
    totals, moments = zip(*uses.values(), strict=True)
    rows = [list(uses), list(totals), list(moments)]
    with connection.cursor() as cursor:
        cursor.execute(ADD_USES, [environment.pk, key.pk, *rows, environment.workspace_id])


@dataclass
class Backend:
    """A reporting key in an environment: one key counts as a backend in each environment in which it verified.

    last_uses: when the backend last verified with each secret, by the secret's id.
    """

    key: ApiKey
    environment: Environment
    last_uses: dict[int, datetime] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.key.name or str(self.key)


def list_backends(workspace: Workspace, *, now: datetime) -> list[Backend]:
    """Return the backends that verified lately, in order of their names."""
    backends: dict[tuple[int, int], Backend] = {}
    for use in SecretUse.objects.filter(secret__workspace=workspace).select_related("api_key", "environment"):
        backend = backends.setdefault((use.api_key_id, use.environment_id), Backend(use.api_key, use.environment))
        backend.last_uses[use.secret_id] = use.last_at
    recent = [backend for backend in backends.values() if max(backend.last_uses.values()) > now - RECENT]
    return sorted(recent, key=lambda backend: (backend.name, backend.environment.pk))


@dataclass(frozen=True)
class LateBackend:
    """A backend that has not verified with a secret yet.

    environments: the environments in which the backend has not.
    """

    name: str
    environments: Sequence[Environment]

    @property
    def environment_words(self) -> str:
        """Return the labels of the environments in one text."""
        return get_text_list([str(environment) for environment in self.environments], "and")


def list_late_backends(backends: Sequence[Backend], secret: SigningSecret) -> Sequence[LateBackend]:
    """Return the backends that have not verified with this secret, each once."""
    late: dict[int, list[Backend]] = {}
    for backend in backends:
        if secret.pk not in backend.last_uses:
            late.setdefault(backend.key.pk, []).append(backend)
    return [
        LateBackend(group[0].name, sorted((backend.environment for backend in group), key=attrgetter("name")))
        for group in late.values()
    ]


def find_unused_signer(environment: Environment, key: ApiKey) -> SigningSecret | None:
    """Return the secret that signs, provided that this backend has verified with other secrets only; else None.

    A backend that never reported a secret gets None too: it may verify with the one that signs.
    """
    signer = find_signer(environment.workspace)
    used = set(SecretUse.objects.filter(environment=environment, api_key=key).values_list("secret_id", flat=True))
    return signer if signer and used and signer.pk not in used else None
