"""Create, change and delete targets, rotate the secrets of webhooks, and send a test."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from alerts.delivery.queue import queue_deliveries, wake_target
from alerts.delivery.send import list_secrets
from alerts.delivery.send_mail import NO_MAIL_SERVER
from alerts.delivery.signature import SEPARATOR, new_secret
from alerts.models import MAX_NAME, MAX_SHOWN_ADDRESS, Alert, Delivery, Event, Target
from alerts.rules.event_titles import describe_happening
from alerts.targets.host_lookup import hold_lookup, look_up_host
from alerts.targets.webhook_address import TargetRefused, parse_webhook_address
from wire.errors import InvalidRequest
from wire.redelivery.encryption import encrypt
from workspaces.audit.record import record_audit
from workspaces.forms.late_forms import require_unchanged
from workspaces.models import Environment, Workspace

MAX_TARGETS = 50  # of a workspace
MAX_RECIPIENTS = 10
OVERLAP = timedelta(hours=24)  # how long the previous secret signs too
MAX_PREVIOUS_SECRETS = 3  # that sign at the same time, after several rotations within a day


class NameRefused(InvalidRequest):
    """A target may not have this name."""


@dataclass(frozen=True)
class CheckedAddress:
    """An address that may be saved.

    text: the address as it is stored.
    shown_address: the part that pages may show.
    """

    text: str
    shown_address: str


def check_address(kind: str, text: str, workspace_id: str) -> CheckedAddress:
    """Check an address; raises TargetRefused. Never call it in a transaction: it resolves a webhook's host by DNS."""
    if kind == Target.EMAIL:
        recipients = list(dict.fromkeys(_split_recipients(text)))
        shown_address = ", ".join(recipients)
        if len(shown_address) > MAX_SHOWN_ADDRESS:
            cure = "Enter fewer, and the others in another target."
            raise TargetRefused(f"The addresses have more than {MAX_SHOWN_ADDRESS} characters. {cure}")
        return CheckedAddress(",".join(recipients), shown_address)
    address = parse_webhook_address(text.strip())
    with hold_lookup(workspace_id):
        look_up_host(address)
    return CheckedAddress(text.strip(), address.shown_address)


def _split_recipients(text: str) -> Sequence[str]:
    if not settings.EMAIL_URL:
        raise TargetRefused(NO_MAIL_SERVER)
    recipients = text.replace(",", " ").split()
    if not 1 <= len(recipients) <= MAX_RECIPIENTS:
        raise TargetRefused(f"Enter 1 to {MAX_RECIPIENTS} addresses, separated by commas.")
    for recipient in recipients:
        try:
            validate_email(recipient)
        except ValidationError:
            raise TargetRefused("Enter addresses such as name@example.com, separated by commas.") from None
    return recipients


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
        target = _lock_target(target)
        shown_address = checked_address.shown_address if checked_address else target.shown_address
        require_unchanged(opened, list_values(target), {"name": name, "address": shown_address})
        facts = {"target": target.name}
        if name != target.name:
            target.name = facts["name"] = name
        if checked_address:
            target.encrypted_address = encrypt(checked_address.text.encode())
            target.shown_address = facts["address"] = checked_address.shown_address
        if len(facts) > 1:
            _save_target(target, ["name", "encrypted_address", "shown_address"])
            record_audit(target.workspace_id, "alert target changed", facts, actor=actor, now=now)


def list_values(target: Target) -> dict[str, str]:
    """Return what the form of a target changes; of its address only the part that pages may show."""
    return {"name": target.name, "address": target.shown_address}


@transaction.atomic
def rotate_secret(target: Target, *, actor: str, now: datetime) -> str:
    """Return a new secret of a webhook, shown once. For 24 hours, messages are signed with the previous ones too."""
    target = _lock_target(target)
    if target.kind != Target.WEBHOOK:
        raise InvalidRequest("Only webhooks are signed.")
    secret = new_secret()
    facts = {"target": target.name}
    # A second rotation within a day must not end the time of the secret that receivers still have.
    previous_secrets = _list_readable_secrets(target, now=now)[:MAX_PREVIOUS_SECRETS]
    target.encrypted_previous_secret = target.previous_until = None
    if previous_secrets:
        target.encrypted_previous_secret = encrypt(SEPARATOR.join(previous_secrets).encode())
        target.previous_until = now + OVERLAP
        facts["previousSignsUntil"] = target.previous_until.isoformat()
    target.encrypted_secret = encrypt(secret.encode())
    target.save(update_fields=["encrypted_secret", "encrypted_previous_secret", "previous_until"])
    record_audit(target.workspace_id, "webhook secret rotated", facts, actor=actor, now=now)
    return secret


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


@transaction.atomic
def send_test(target: Target, environment: Environment, *, url: str, actor: str, now: datetime) -> Event:
    """Queue a test to this target alone."""
    environment.hold()
    subject = str(uuid.uuid4())
    event = Event.objects.create(
        workspace_id=target.workspace_id,
        environment_id=environment.pk,
        kind=Event.TEST,
        subject=subject,
        key=subject,
        title=describe_happening(Event.TEST, {}, environment.name),
        url=url,
        facts={"environment": environment.name, "target": target.name},
        at=now,
        fired_at=now,
    )
    queue_deliveries(event, [target.pk], now=now)
    record_audit(target.workspace_id, "alert test sent", {"target": target.name}, actor=actor, now=now)
    return event


@transaction.atomic
def send_again(delivery: Delivery, *, actor: str, now: datetime | None = None) -> bool:
    """Queue a dead letter again, behind the deliveries that wait for its target.

    Return False if it is not a dead letter.
    """
    now = now or timezone.now()
    # Lock the target first, as recording a delivery does: else the recording could note that nothing waits.
    Target.objects.select_for_update(no_key=True).filter(pk=delivery.target_id).first()
    queue_state = {"state": Delivery.WAITING, "queued_at": now, "next_attempt_at": now, "finished_at": None}
    dead = Delivery.objects.filter(workspace=delivery.workspace_id, pk=delivery.pk, state=Delivery.DEAD)
    if not dead.update(**queue_state, attempts=0):
        return False
    wake_target(delivery.target_id, now=now)
    facts = {"target": delivery.target.name, "event": delivery.event.title}
    record_audit(delivery.workspace_id, "alert delivery queued again", facts, actor=actor, now=now)
    return True


def _list_readable_secrets(target: Target, *, now: datetime) -> Sequence[str]:
    """Return the secrets that sign; none if no key of the settings decrypts them, because SECRET_KEY was lost."""
    try:
        return list_secrets(target, now=now)
    except InvalidToken:
        return []


def _lock_target(target: Target) -> Target:
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
