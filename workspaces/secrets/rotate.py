"""Rotate signing secrets: prepare one that verifies only, and let it sign in place of the one before (contract §3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.models import SigningSecret, Workspace
from workspaces.secrets.create import create_signing_secret

PREVIOUS_VERIFIES_FOR = timedelta(hours=24)  # after a rotation


@dataclass(frozen=True)
class Rotation:
    """The result of one step of a rotation.

    text: the new secret, shown once; empty if it was made in an earlier step.
    """

    secret: SigningSecret
    text: str = ""
    previous_verifies_until: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        until = self.previous_verifies_until
        return {
            "secretId": self.secret.prefix,
            **({"signingSecret": self.text} if self.text else {}),
            "signs": self.secret.signs_from is not None,
            **({"previousVerifiesUntil": int(until.timestamp())} if until else {}),
        }


def find_signer(workspace: Workspace) -> SigningSecret | None:
    """Return the secret that signs new intents: that of the last rotation, whatever the clock said at that time."""
    signing = workspace.signing_secrets.filter(revoked_at=None, signs_from__isnull=False)
    # Each rotation sets when the secrets before it end.
    return signing.order_by(F("verifies_until").desc(nulls_first=True), "-signs_from", "-id").first()


@transaction.atomic
def prepare_secret(workspace: Workspace, *, actor: str, now: datetime) -> Rotation:
    """Make a secret that verifies from now on, and signs once it is activated.

    Raises InvalidRequest if another one is prepared already.
    """
    workspace.lock()
    _refuse_prepared(workspace)
    text, secret = _issue(workspace, signs=False, actor=actor, now=now)
    record_audit(workspace.pk, "signing secret prepared", {"secret": secret.prefix}, actor=actor, now=now)
    return Rotation(secret, text)


@transaction.atomic
def activate_secret(workspace: Workspace, *, secret_id: int | None = None, actor: str, now: datetime) -> Rotation:
    """Let the prepared secret sign from now on.

    secret_id: the row id of the secret that must be the prepared one; None for whichever is.

    Raises InvalidRequest if no secret is prepared, or another one.
    """
    workspace.lock()
    secret = find_prepared(workspace)
    if secret is None or secret_id not in (None, secret.pk):
        raise InvalidRequest(_explain_refusal(workspace, secret, secret_id))
    until = _retire_signers(workspace, now=now)
    secret.signs_from = now
    secret.save(update_fields=["signs_from"])
    _record_rotation(secret, until, actor=actor, now=now)
    return Rotation(secret, previous_verifies_until=until)


@transaction.atomic
def rotate_secret(workspace: Workspace, *, actor: str, now: datetime) -> Rotation:
    """Make a secret that signs at once. Backends reject new intents until they know it.

    Raises InvalidRequest while a secret is prepared.
    """
    workspace.lock()
    _refuse_prepared(workspace)
    until = _retire_signers(workspace, now=now)
    text, secret = _issue(workspace, signs=True, actor=actor, now=now)
    _record_rotation(secret, until, actor=actor, now=now)
    return Rotation(secret, text, until)


def find_prepared(workspace: Workspace) -> SigningSecret | None:
    """Return the secret that is prepared and does not sign yet."""
    return workspace.signing_secrets.filter(revoked_at=None, signs_from=None).first()


def _explain_refusal(workspace: Workspace, prepared: SigningSecret | None, secret_id: int | None) -> str:
    """Say why the secret with this row id cannot be activated: perhaps somebody else activated or revoked it."""
    secret = workspace.signing_secrets.filter(pk=secret_id).first() if secret_id else None
    if secret is not None and secret != prepared:
        end = "activated already" if secret.revoked_at is None else "revoked in the meantime"
        return f"{secret} was {end}. Nothing was changed."
    if prepared is not None:
        return f"{prepared} was prepared in the meantime. Give it to every backend, then activate it."
    return "No secret is prepared. Prepare one first, and give it to every backend."


def _refuse_prepared(workspace: Workspace) -> None:
    prepared_secret = find_prepared(workspace)
    if prepared_secret is not None:
        raise InvalidRequest(f"{prepared_secret} is prepared already. Activate it, or revoke it first.")


def _retire_signers(workspace: Workspace, *, now: datetime) -> datetime:
    """Let the secret that signs verify for 24 hours more; return until when."""
    until = now + PREVIOUS_VERIFIES_FOR
    workspace.signing_secrets.filter(revoked_at=None, signs_from__isnull=False, verifies_until=None).update(
        verifies_until=until
    )
    return until


def _issue(workspace: Workspace, *, signs: bool, actor: str, now: datetime) -> tuple[str, SigningSecret]:
    text = create_signing_secret(workspace, now=now, actor=actor, signs=signs)
    return text, workspace.signing_secrets.latest("id")


def _record_rotation(secret: SigningSecret, until: datetime, *, actor: str, now: datetime) -> None:
    facts = {"secret": secret.prefix, "previousVerifiesUntil": until.isoformat()}
    record_audit(secret.workspace_id, "signing secret rotated", facts, actor=actor, now=now)
