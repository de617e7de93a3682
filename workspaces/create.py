"""Create a workspace with its environments, keys and signing secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from wire.postgresql.named_lock import hold_named_lock
from workspaces.audit.record import record_audit
from workspaces.environments.add import MAX_ENVIRONMENTS, build_environment
from workspaces.errors import InvalidWorkspace
from workspaces.keys.create import build_key
from workspaces.models import ApiKey, Environment, Workspace
from workspaces.secrets.create import create_signing_secret

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class NewWorkspace:
    """A new workspace with its keys and signing secret, which are shown only once.

    full_key: a key with every scope, for trials; empty unless it was asked for.
    """

    workspace: Workspace
    report_key: str
    platform_key: str
    publishable_key: str
    signing_secret: str
    full_key: str = ""

    def as_json(self) -> dict[str, Any]:
        environments = list(self.workspace.environments.all())
        return {
            "workspaceId": self.workspace.id,
            "slug": self.workspace.slug,
            "name": self.workspace.name,
            "environments": [environment.name for environment in environments],
            "audiences": {environment.name: environment.audience for environment in environments},
            "reportKey": self.report_key,
            "platformKey": self.platform_key,
            **({"secretKey": self.full_key} if self.full_key else {}),
            "publishableKey": self.publishable_key,
            "signingSecret": self.signing_secret,
        }


@transaction.atomic
def create_workspace(
    name: str, environments: Sequence[str] = (), *, actor: str, now: datetime, with_full_key: bool = False
) -> NewWorkspace:
    """Create a workspace; `production` is always among its environments.

    Keys and signing secret are returned here and never again: a key that reports, a key for the platform, a publishable
    key and, with `with_full_key`, a key with every scope (contract §1). Raises InvalidWorkspace.
    """
    name = " ".join(name.split())  # a line break would end the subject of a mail
    if not 1 <= len(name) <= Workspace.MAX_NAME or CONTROL.search(name):
        raise InvalidWorkspace(
            f"A workspace's name has 1 to {Workspace.MAX_NAME} characters, and no control characters."
        )
    environment_names = list(dict.fromkeys(["production", *environments]))
    if len(environment_names) > MAX_ENVIRONMENTS:
        raise InvalidWorkspace(f"A workspace has at most {MAX_ENVIRONMENTS} environments, production included.")
    workspace = Workspace.objects.create(name=name, slug=_choose_slug(name), created_at=now)
    Environment.objects.bulk_create(
        build_environment(workspace, environment_name, now=now) for environment_name in environment_names
    )
    record_audit(workspace.pk, "workspace created", actor=actor, now=now)
    keys = {
        "report_key": build_key(workspace, ApiKey.SECRET, ["report"], name="report", actor=actor, now=now),
        "platform_key": build_key(workspace, ApiKey.SECRET, ["platform"], name="platform", actor=actor, now=now),
    }
    if with_full_key:
        keys["full_key"] = build_key(workspace, ApiKey.SECRET, ApiKey.SCOPES, name="all scopes", actor=actor, now=now)
    keys["publishable_key"] = build_key(workspace, ApiKey.PUBLISHABLE, (), name="browser", actor=actor, now=now)
    ApiKey.objects.bulk_create(row for _, row in keys.values())
    texts = {name: text for name, (text, _) in keys.items()}
    return NewWorkspace(workspace, signing_secret=create_signing_secret(workspace, actor=actor, now=now), **texts)


def _choose_slug(name: str) -> str:
    """Return a slug that no workspace has. Until the end of the transaction, nobody else chooses one."""
    hold_named_lock("workspaces.slug")
    base = slugify(name)[:50] or "workspace"
    existing_slugs = set(Workspace.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    candidates = (base, *(f"{base}-{number}" for number in range(2, len(existing_slugs) + 3)))
    return next(slug for slug in candidates if slug not in existing_slugs)
