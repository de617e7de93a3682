"""Change an environment: its label, its audience, and whether it is archived. Its name is fixed."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.environments.add import check_label
from workspaces.forms.late_forms import require_unchanged
from workspaces.models import Environment

DEFAULT_NAME = "production"  # the environment of a request that names none


@transaction.atomic
def change_environment(
    environment: Environment, *, label: str, audience: str, opened: str = "", actor: str, now: datetime
) -> Environment:
    """Set label and audience. Intents for another audience are rejected from now on (`audience-mismatch`).

    opened: the fingerprint of the values that the form was opened with.

    Raises InvalidRequest.
    """
    environment.workspace.lock()
    environment.refresh_from_db()
    before, after = list_values(environment), {"label": label.strip(), "audience": audience.strip()}
    require_unchanged(opened, before, after)
    label, audience = check_label(label), after["audience"]
    if not 1 <= len(audience) <= Environment.MAX_AUDIENCE or not audience.isprintable() or " " in audience:
        raise InvalidRequest(f"An audience has 1 to {Environment.MAX_AUDIENCE} characters, without spaces.")
    siblings = Environment.objects.filter(workspace=environment.workspace_id).exclude(pk=environment.pk)
    namesake = siblings.filter(audience=audience).first()
    if namesake is not None:
        raise InvalidRequest(f"This is the audience of {namesake.name}: its intents would pass here too.")
    if before == after:
        return environment
    environment.label, environment.audience = label, audience
    environment.save(update_fields=["label", "audience"])
    changes = {name: [before[name], value] for name, value in after.items() if before[name] != value}
    facts = {"environment": environment.name, **changes}
    record_audit(environment.workspace_id, "environment changed", facts, actor=actor, now=now)
    return environment


def list_values(environment: Environment) -> dict[str, str]:
    """Return what the form of an environment changes."""
    return {"label": environment.label, "audience": environment.audience}


@transaction.atomic
def archive_environment(environment: Environment, *, actor: str, now: datetime) -> None:
    """Archive an environment: requests that name it are refused from now on; its data and pages stay.

    Raises InvalidRequest for `production`.
    """
    if environment.name == DEFAULT_NAME:
        raise InvalidRequest(f"{DEFAULT_NAME} always exists and cannot be archived.")
    if Environment.objects.filter(pk=environment.pk, archived_at=None).update(archived_at=now):
        facts = {"environment": environment.name}
        record_audit(environment.workspace_id, "environment archived", facts, actor=actor, now=now)


@transaction.atomic
def restore_environment(environment: Environment, *, actor: str, now: datetime) -> None:
    """Restore an archived environment: requests that name it are accepted again."""
    if Environment.objects.filter(pk=environment.pk, archived_at__isnull=False).update(archived_at=None):
        facts = {"environment": environment.name}
        record_audit(environment.workspace_id, "environment restored", facts, actor=actor, now=now)
