"""Create an API key: what it may do, where, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from affidavit import make_key
from wire.errors import InvalidRequest
from wire.time.timestamps import LATEST
from workspaces.audit.record import record_audit
from workspaces.errors import UnknownEnvironment
from workspaces.keys.digest import hash_key
from workspaces.models import PREFIX_LENGTH, ApiKey, Workspace


@dataclass(frozen=True)
class NewKey:
    """A new key, which is shown only once.

    environments: the names of the environments that it may use.
    """

    text: str
    scopes: Sequence[str]
    environments: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        return {
            "keyId": self.text[:PREFIX_LENGTH],
            "secretKey" if self.text.startswith("gak_") else "publishableKey": self.text,
            "scopes": list(self.scopes),
            "environments": list(self.environments),
        }


@transaction.atomic
def create_key(
    workspace: Workspace,
    scopes: Sequence[str],
    *,
    kind: str = ApiKey.SECRET,
    name: str = "",
    environment_names: Sequence[str] = (),
    expires_at: datetime | None = None,
    actor: str,
    now: datetime,
) -> NewKey:
    """Create a key of the kind ApiKey.SECRET with scopes, or of the kind ApiKey.PUBLISHABLE without any.

    environment_names: the environments that the key may use, all if empty.

    Raises InvalidRequest, and UnknownEnvironment for a name that the workspace does not have.
    """
    name = name.strip()
    own_scopes = [scope for scope in ApiKey.SCOPES if scope in scopes]
    own_environments = list(dict.fromkeys(environment_names))
    _check_scopes(scopes, kind)
    if len(name) > ApiKey.MAX_NAME or "\0" in name:
        raise InvalidRequest(f"Give the key a name of at most {ApiKey.MAX_NAME} characters.")
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest("The key would have expired already. Choose a later time, or none.")
    if expires_at is not None and expires_at > LATEST:  # not every time zone could show it
        raise InvalidRequest(f"Choose a time before the year {LATEST.year}, or none.")
    workspace.lock()
    existing_names = list(workspace.environments.filter(archived_at=None).values_list("name", flat=True))
    if not set(own_environments) <= set(existing_names):
        raise UnknownEnvironment(existing_names)
    text = store_new_key(
        workspace,
        kind,
        own_scopes,
        name=name,
        environment_names=own_environments,
        expires_at=expires_at,
        actor=actor,
        now=now,
    )
    facts = {
        "key": text[:PREFIX_LENGTH],
        "name": name,
        "kind": kind,
        "scopes": own_scopes,
        "environments": own_environments or "all",
        **({} if expires_at is None else {"expiresAt": expires_at.isoformat()}),
    }
    record_audit(workspace.pk, "key created", facts, actor=actor, now=now)
    return NewKey(text, own_scopes, own_environments or existing_names)


def store_new_key(workspace: Workspace, kind: str, scopes: Sequence[str], *, now: datetime, **members: Any) -> str:
    """Return a new key of the kind ApiKey.SECRET or ApiKey.PUBLISHABLE; only its digest is stored (contract §1).

    members: those of build_key.
    """
    key, row = build_key(workspace, kind, scopes, now=now, **members)
    row.save(force_insert=True)
    return key


def build_key(
    workspace: Workspace,
    kind: str,
    scopes: Sequence[str],
    *,
    now: datetime,
    name: str = "",
    environment_names: Sequence[str] = (),
    expires_at: datetime | None = None,
    actor: str = "",
) -> tuple[str, ApiKey]:
    """Return a new key, and its row, which is not stored yet.

    environment_names: the environments that it may use, all if empty.
    """
    key = make_key("gak_" if kind == ApiKey.SECRET else "pk_")
    row = ApiKey(
        workspace=workspace,
        name=name,
        kind=kind,
        scopes=list(scopes),
        environment_names=list(environment_names),
        digest=hash_key(key),
        prefix=key[:PREFIX_LENGTH],
        created_at=now,
        created_by=actor,
        expires_at=expires_at,
    )
    return key, row


def _check_scopes(scopes: Sequence[str], kind: str) -> None:
    if kind not in (ApiKey.SECRET, ApiKey.PUBLISHABLE):
        raise InvalidRequest("Choose a secret or a publishable key.")
    if kind == ApiKey.PUBLISHABLE and scopes:
        raise InvalidRequest("A publishable key has no scopes: leave them out, or create a secret key.")
    if kind == ApiKey.SECRET and (not scopes or not set(scopes) <= set(ApiKey.SCOPES)):
        raise InvalidRequest(f"Choose what the key may do, at least one of: {', '.join(ApiKey.SCOPES)}.")
