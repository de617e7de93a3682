"""Make a workspace with its environments, keys and signing secret."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from affidavit import make_key
from wire.redelivery import encryption
from workspaces.audit import record_audit
from workspaces.models import PREFIX_SHOWN, ApiKey, Environment, SigningSecret, Workspace

MAX_ENVIRONMENTS = 50


class InvalidWorkspace(ValueError):
    """A name that cannot be one; the message says why."""


@dataclass(frozen=True)
class Created:
    """A new workspace with everything that is shown only once."""

    workspace: Workspace
    secret_key: str
    publishable_key: str
    signing_secret: str

    def as_json(self) -> dict[str, Any]:
        environments = list(self.workspace.environments.all())
        return {
            "workspaceId": self.workspace.id,
            "slug": self.workspace.slug,
            "name": self.workspace.name,
            "environments": [environment.name for environment in environments],
            "audiences": {environment.name: environment.audience for environment in environments},
            "secretKey": self.secret_key,
            "publishableKey": self.publishable_key,
            "signingSecret": self.signing_secret,
        }


@transaction.atomic
def create_workspace(name: str, environments: Sequence[str] = (), *, actor: str, now: datetime) -> Created:
    """Raises InvalidWorkspace. `production` always exists; keys and the secret are returned here and never again."""
    name = name.strip()
    if not 1 <= len(name) <= 100:
        raise InvalidWorkspace("A workspace's name has 1 to 100 characters.")
    workspace = Workspace.objects.create(name=name, slug=free_slug(name), created_at=now)
    for environment in dict.fromkeys(["production", *environments]):
        add_environment(workspace, environment, now=now)
    record_audit(workspace.pk, "workspace created", actor=actor, now=now)
    return Created(
        workspace,
        secret_key=issue_key(workspace, ApiKey.SECRET, ApiKey.SCOPES, now=now),
        publishable_key=issue_key(workspace, ApiKey.PUBLISHABLE, (), now=now),
        signing_secret=issue_signing_secret(workspace, now=now),
    )


def add_environment(workspace: Workspace, name: str, *, now: datetime) -> Environment:
    if slugify(name) != name or not 1 <= len(name) <= 60:
        raise InvalidWorkspace(
            f"An environment's name has 1 to 60 lower-case letters, digits, - and _; {name!r} does not fit."
        )
    audience = f"urn:affidavit:{workspace.slug}:{name}"
    return Environment.objects.create(workspace=workspace, name=name, audience=audience, created_at=now)


def issue_key(workspace: Workspace, kind: str, scopes: Sequence[str], *, now: datetime) -> str:
    key = make_key("gak_" if kind == ApiKey.SECRET else "pk_")
    ApiKey.objects.create(
        workspace=workspace, kind=kind, scopes=list(scopes), digest=key_digest(key), prefix=key[:PREFIX_SHOWN],
        created_at=now,
    )  # fmt: skip
    return key


def issue_signing_secret(workspace: Workspace, *, now: datetime) -> str:
    """`gas_` and 256 bits in base64url (contract 3)."""
    secret = "gas_" + secrets.token_urlsafe(32)
    SigningSecret.objects.create(
        workspace=workspace, ciphertext=encryption.sealed(secret.encode()), prefix=secret[:8], created_at=now
    )
    return secret


def key_digest(key: str) -> bytes:
    """SHA-256: a key has 155 random bits, so that a slow hash would protect nothing."""
    return hashlib.sha256(key.encode()).digest()


def free_slug(name: str) -> str:
    base = slugify(name)[:50] or "workspace"
    taken = set(Workspace.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    return next(slug for slug in (base, *(f"{base}-{n}" for n in range(2, len(taken) + 3))) if slug not in taken)
