"""Add an environment to a workspace."""

from __future__ import annotations

from datetime import datetime

from django.utils.text import slugify

from workspaces.models import Environment, Workspace

MAX_ENVIRONMENTS = 50


class InvalidWorkspace(ValueError):
    """A name of a workspace or environment that is refused; the message says why."""


def add_environment(workspace: Workspace, name: str, *, now: datetime) -> Environment:
    if slugify(name) != name or not 1 <= len(name) <= 60:
        raise InvalidWorkspace(
            f"An environment's name has 1 to 60 lower-case letters, digits, - and _; {name!r} does not fit."
        )
    audience = f"urn:affidavit:{workspace.slug}:{name}"
    return Environment.objects.create(workspace=workspace, name=name, audience=audience, created_at=now)
