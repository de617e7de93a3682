"""Add an environment to a workspace."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.text import slugify

from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.errors import InvalidWorkspace
from workspaces.models import Environment, Workspace

MAX_ENVIRONMENTS = 50
# What pages, downloads and the audit log write in place of an environment's name: every environment, or no comparison
RESERVED_NAMES = frozenset({"all", "none"})


def build_environment(workspace: Workspace, name: str, *, now: datetime) -> Environment:
    """Return the row of an environment with an audience of its own, not stored yet; raises InvalidWorkspace."""
    if slugify(name) != name or not 1 <= len(name) <= Environment.MAX_NAME:
        raise InvalidWorkspace(
            f"An environment's name has 1 to {Environment.MAX_NAME} lower-case letters, digits, - and _; "
            f"{name!r} does not fit."
        )
    if name in RESERVED_NAMES:
        raise InvalidWorkspace(
            f"Choose another name than {name}: pages and downloads use this word in place of a name."
        )
    audience = f"urn:affidavit:{workspace.slug}:{name}"
    return Environment(workspace=workspace, name=name, audience=audience, created_at=now)


def add_environment(workspace: Workspace, name: str, *, now: datetime) -> Environment:
    """Add an environment; raises InvalidWorkspace, also if another has the audience that it would get."""
    environment = build_environment(workspace, name, now=now)
    audience = environment.audience
    namesake = workspace.environments.filter(audience=audience).first()
    if namesake is not None:
        raise InvalidWorkspace(
            f"{namesake.name} has the audience {audience} already, so its intents would pass in {name} too. "
            "Change that audience first."
        )
    environment.save(force_insert=True)
    return environment


@transaction.atomic
def create_environment(workspace: Workspace, name: str, *, label: str = "", actor: str, now: datetime) -> Environment:
    """Add an environment; raises InvalidRequest for a wrong name or label, or if there are too many environments."""
    workspace.lock()
    names = set(workspace.environments.values_list("name", flat=True))
    if name in names:
        raise InvalidRequest(f"There is an environment {name} already.")
    if len(names) >= MAX_ENVIRONMENTS:
        raise InvalidRequest(f"A workspace has at most {MAX_ENVIRONMENTS} environments.")
    try:
        environment = add_environment(workspace, name, now=now)
    except InvalidWorkspace as error:
        raise InvalidRequest(str(error)) from None
    environment.label = check_label(label)
    environment.save(update_fields=["label"])
    facts = {"environment": name, "label": environment.label, "audience": environment.audience}
    record_audit(workspace.pk, "environment created", facts, actor=actor, now=now)
    return environment


def check_label(label: str) -> str:
    """Return a label without outer white space; raises InvalidRequest."""
    label = label.strip()
    if len(label) > Environment.MAX_LABEL or not label.isprintable():
        raise InvalidRequest(
            f"A label has at most {Environment.MAX_LABEL} characters, none of them invisible, such as those that join "
            "emoji."
        )
    return label
