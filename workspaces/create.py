"""Create a workspace with its environments, keys and signing secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from workspaces.audit import record_audit
from workspaces.environments import InvalidWorkspace, add_environment
from workspaces.keys import issue_key, issue_signing_secret
from workspaces.models import ApiKey, Workspace


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
        add_environment(workspace, environment_name, now=now)
    record_audit(workspace.pk, "workspace created", actor=actor, now=now)
    return NewWorkspace(
        workspace,
        secret_key=issue_key(workspace, ApiKey.SECRET, ApiKey.SCOPES, now=now),
        publishable_key=issue_key(workspace, ApiKey.PUBLISHABLE, (), now=now),
        signing_secret=issue_signing_secret(workspace, now=now),
    )


def _choose_slug(name: str) -> str:
    base = slugify(name)[:50] or "workspace"
    existing_slugs = set(Workspace.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    candidates = (base, *(f"{base}-{number}" for number in range(2, len(existing_slugs) + 3)))
    return next(slug for slug in candidates if slug not in existing_slugs)
