"""Create, change and delete targets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction

from alerts.delivery.signature import new_secret
from alerts.models import MAX_NAME, Alert, Target
from alerts.setup.target_address import check_address
from wire.at_rest.encryption import encrypt
from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.forms.late_forms import require_unchanged
from workspaces.models import Workspace

MAX_TARGETS = 50  # of a workspace


class NameRefused(InvalidRequest):
    """A target may not have this name."""


def create_target(workspace: Workspace, kind: str, name: str, address: str, *, actor: str, now: datetime) -> str:
    """Create a target and return the secret of a webhook, which is shown once; "" for the other kinds.

    Raises InvalidRequest.
    """
    checked_address = check_address(kind, address, workspace.pk)
    secret = new_secret() if kind == Target.WEBHOOK else ""
    with transaction.atomic():
        workspace.lock()
        if workspace.alert_targets.count() >= MAX_TARGETS:
            raise InvalidRequest(f"A workspace has at most {MAX_TARGETS} targets. Delete one first.")
        _save_target(
            Target(
                workspace=workspace,
                kind=kind,
                name=_check_name(name),
                encrypted_address=encrypt(checked_address.text.encode()),
                shown_address=checked_address.shown_address,
                encrypted_secret=encrypt(secret.encode()) if secret else None,
                created_at=now,
                created_by=actor,
            )
        )
        facts = {"target": name, "kind": kind, "address": checked_address.shown_address}
        record_audit(workspace.pk, "alert target created", facts, actor=actor, now=now)
    return secret


def change_target(target: Target, name: str, address: str, *, opened: str = "", actor: str, now: datetime) -> None:
    """Set the name, and the address unless it is empty; raises InvalidRequest.

    opened: the fingerprint of the values that the form was opened with.
    """
    checked_address = check_address(target.kind, address, target.workspace_id) if address.strip() else None
    name = _check_name(name)
    with transaction.atomic():
        target = lock_target(target)
        shown_address = checked_address.shown_address if checked_address else target.shown_address
        require_unchanged(opened, list_form_values(target), {"name": name, "address": shown_address})
        facts = {"target": target.name}
        if name != target.name:
            target.name = facts["name"] = name
        if checked_address:
            target.encrypted_address = encrypt(checked_address.text.encode())
            target.shown_address = facts["address"] = checked_address.shown_address
        if len(facts) > 1:
            _save_target(target, ["name", "encrypted_address", "shown_address"])
            record_audit(target.workspace_id, "alert target changed", facts, actor=actor, now=now)


def list_form_values(target: Target) -> dict[str, str]:
    """Return the values that the form of a target shows; of its address only the part that pages may show."""
    return {"name": target.name, "address": target.shown_address}


@transaction.atomic
def delete_target(target: Target, *, actor: str, now: datetime) -> None:
    """Delete a target with its deliveries; a second time changes nothing.

    Raises InvalidRequest while an alert notifies it.
    """
    # Lock the target first, as recording a delivery does: without this, the deletion would lock in another order, and
    # could deadlock.
    if Target.objects.select_for_update().filter(pk=target.pk).first() is None:
        return
    count = Alert.objects.filter(workspace=target.workspace_id, target_ids__contains=[target.pk]).count()
    if count:
        alerts, pronoun = ("1 alert notifies", "it") if count == 1 else (f"{count} alerts notify", "them")
        raise InvalidRequest(f"{alerts} {target.name}. Give {pronoun} another target first, or delete {pronoun}.")
    target.delete()
    record_audit(target.workspace_id, "alert target deleted", {"target": target.name}, actor=actor, now=now)


def lock_target(target: Target) -> Target:
    row = Target.objects.select_for_update(no_key=True).filter(pk=target.pk).first()
    if row is None:
        raise InvalidRequest("This target was deleted in the meantime.")
    return row


def _check_name(name: str) -> str:
    name = name.strip()
    if not 0 < len(name) <= MAX_NAME:
        raise NameRefused(f"Enter a name of at most {MAX_NAME} characters.")
    if not name.isprintable():
        raise NameRefused("Enter a name without invisible characters, such as those that join emoji.")
    return name


def _save_target(target: Target, fields: Sequence[str] | None = None) -> None:
    try:
        with transaction.atomic():
            target.save(update_fields=fields)
    except IntegrityError:
        raise NameRefused("Another target has this name. Choose another one.") from None
