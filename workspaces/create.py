"""Create a workspace with its environments, keys and signing secret."""

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
from wire.redelivery.encryption import encrypt
from workspaces.audit import record_audit
from workspaces.models import PREFIX_LENGTH, ApiKey, Environment, SigningSecret, Workspace

MAX_ENVIRONMENTS = 50


class InvalidWorkspace(ValueError):
    """A name of a workspace or environment that is refused; the message says why."""


@dataclass(frozen=True)
class NewWorkspace:
    """A new workspace with its keys and signing secret, which are shown only once."""

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
def create_workspace(name: str, environments: Sequence[str] = (), *, actor: str, now: datetime) -> NewWorkspace:
    """Create a workspace; `production` is always among its environments.

    Keys and signing secret are returned here and never again. Raises InvalidWorkspace.
    """
    name = name.strip()
    if not 1 <= len(name) <= 100:
        raise InvalidWorkspace("A workspace's name has 1 to 100 characters.")
    workspace = Workspace.objects.create(name=name, slug=_choose_slug(name), created_at=now)
    for environment_name in dict.fromkeys(["production", *environments]):
        _add_environment(workspace, environment_name, now=now)
    record_audit(workspace.pk, "workspace created", actor=actor, now=now)
    return NewWorkspace(
        workspace,
        secret_key=issue_key(workspace, ApiKey.SECRET, ApiKey.SCOPES, now=now),
        publishable_key=issue_key(workspace, ApiKey.PUBLISHABLE, (), now=now),
        signing_secret=issue_signing_secret(workspace, now=now),
    )


def _add_environment(workspace: Workspace, name: str, *, now: datetime) -> Environment:
    if slugify(name) != name or not 1 <= len(name) <= 60:
        raise InvalidWorkspace(
            f"An environment's name has 1 to 60 lower-case letters, digits, - and _; {name!r} does not fit."
        )
    audience = f"urn:affidavit:{workspace.slug}:{name}"
    return Environment.objects.create(workspace=workspace, name=name, audience=audience, created_at=now)


def issue_key(workspace: Workspace, kind: str, scopes: Sequence[str], *, now: datetime) -> str:
    """Return a new key of ApiKey.SECRET or ApiKey.PUBLISHABLE; only its digest is stored (contract 1)."""
    key = make_key("gak_" if kind == ApiKey.SECRET else "pk_")
    ApiKey.objects.create(
        workspace=workspace, kind=kind, scopes=list(scopes), digest=hash_key(key), prefix=key[:PREFIX_LENGTH],
        created_at=now,
    )  # fmt: skip
    return key


def issue_signing_secret(workspace: Workspace, *, now: datetime) -> str:
    """Return a new signing secret: `gas_` and 256 bits in base64url; stored encrypted (contract 3)."""
    secret = "gas_" + secrets.token_urlsafe(32)
    SigningSecret.objects.create(
        workspace=workspace, ciphertext=encrypt(secret.encode()), prefix=secret[:8], created_at=now
    )
    return secret


def hash_key(key: str) -> bytes:
    """Return the SHA-256 of a key: it has 155 random bits, so that a slow hash would protect nothing."""
    return hashlib.sha256(key.encode()).digest()


def _choose_slug(name: str) -> str:
    base = slugify(name)[:50] or "workspace"
    existing_slugs = set(Workspace.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    candidates = (base, *(f"{base}-{number}" for number in range(2, len(existing_slugs) + 3)))
    return next(slug for slug in candidates if slug not in existing_slugs)
