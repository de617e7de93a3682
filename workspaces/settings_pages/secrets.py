"""The page of signing secrets: rotate in two steps, see which backend uses which secret, revoke.

Activation and revocation ask first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from wire.address_members import read_number
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import AuditEntry, Environment, Membership, SecretUse, SigningSecret, Workspace
from workspaces.pages.form_answers import act_and_return, member_form
from workspaces.pages.page import Page
from workspaces.pages.shown_once import keep_for_next_page, take_once
from workspaces.secrets.revoke import REVOKED, revoke_secret
from workspaces.secrets.rotate import Rotation, activate_secret, find_signer, prepare_secret
from workspaces.secrets.uses import Backend, list_backends, list_late_backends

NAME = "secrets"
NEW_SECRET = "new secret"
SECRET_COLUMNS = ("secretId", "state", "createdAt", "createdBy", "signsFrom", "verifiesUntil", "revokedAt")
USE_COLUMNS = ("secretId", "keyId", "keyName", "environment", "verifications", "lastAt")
ACTIVE_STATES = ("signs", "prepared", "verifies")


@dataclass(frozen=True)
class SecretRow:
    """A secret on the page.

    users: of the recent backends, those that verified with it, and when each last did; the latest first.
    revoked_by: who revoked it; empty if the audit log no longer says who.
    """

    secret: SigningSecret
    state: str
    users: Sequence[tuple[Backend, datetime]]
    revoked_by: str = ""


def show_secrets(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the signing secrets of the workspace, and the next step of a rotation."""
    return _build_page(request, environment)


@member_form(Membership.ADMIN)
@sensitive_variables("rotation")
def post_preparation(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Prepare a secret and go to the page, which shows it once."""

    def prepare(actor: str, now: datetime) -> None:
        rotation: Rotation = prepare_secret(environment.workspace, actor=actor, now=now)
        keep_for_next_page(request, NEW_SECRET, {"workspace": environment.workspace_id, "text": rotation.text})

    return _change_secrets(request, environment, prepare)


@member_form(Membership.ADMIN)
def post_activation(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Let the prepared secret sign, if it is the one that the page asked about."""
    secret_id = read_number(request.POST, "secret")

    def activate(actor: str, now: datetime) -> None:
        activate_secret(environment.workspace, secret_id=secret_id, actor=actor, now=now)

    return _change_secrets(request, environment, activate)


@member_form(Membership.ADMIN)
def post_revocation(request: HttpRequest, environment: Environment, secret_id: int) -> HttpResponse:
    """Revoke a secret that no longer signs, or does not yet."""

    def revoke(actor: str, now: datetime) -> None:
        revoke_secret(get_object_or_404(environment.workspace.signing_secrets, pk=secret_id), actor=actor, now=now)

    return _change_secrets(request, environment, revoke)


def _change_secrets(
    request: HttpRequest, environment: Environment, act: Callable[[str, datetime], None]
) -> HttpResponse:
    build_page = partial(_build_page, request, environment)
    return act_and_return(request, NAME, environment, act, build_page)


def _build_page(request: HttpRequest, environment: Environment, *, fault: str = "") -> Page:
    workspace = environment.workspace
    now = timezone.now()

    def build_context() -> Mapping[str, Any]:
        backends = list_backends(workspace, now=now)
        states = _list_states(workspace, now)
        actors = _find_revoking_actors(workspace, [secret for secret, _ in states])
        rows = [_build_secret_row(secret, state, backends, actors) for secret, state in states]
        active_rows = [row for row in rows if row.state in ACTIVE_STATES]
        signer = next((row.secret for row in active_rows if row.state == "signs"), None)
        prepared = next((row.secret for row in active_rows if row.state == "prepared"), None)
        is_asked = prepared is not None and request.GET.get("activate", "") == str(prepared.pk)
        revoking = request.GET.get("revoke", "")
        return {
            "fault": fault,
            "new_secrets": take_once(request, NEW_SECRET, workspace=workspace.pk),
            "rows": active_rows,
            "ended_rows": [row for row in rows if row.state not in ACTIVE_STATES],
            "signer": signer,
            "previous": [row for row in active_rows if row.state == "verifies"],
            "prepared": prepared,
            "to_activate": prepared if is_asked else None,
            "backends": backends,
            "reporting_keys": len({backend.key.pk for backend in backends}),
            "reporting_environments": len({backend.environment.pk for backend in backends}),
            "late_backends": list_late_backends(backends, signer) if signer else [],
            "backends_without_prepared": list_late_backends(backends, prepared) if prepared else [],
            "to_revoke": next((row for row in active_rows if str(row.secret.pk) == revoking), None),
        }

    tables = [
        Table("secrets", SECRET_COLUMNS, lambda: _export_secrets(workspace, now)),
        Table("uses", USE_COLUMNS, lambda: _export_uses(workspace)),
    ]
    return Page("workspaces/secrets.html", build_context, tables, has_period=False, holds_secrets=True)


def _find_revoking_actors(workspace: Workspace, secrets: Sequence[SigningSecret]) -> Mapping[str, str]:
    """Return who revoked which secret, by its first characters, as the audit log says."""
    moments = [secret.revoked_at for secret in secrets if secret.revoked_at]
    entries = AuditEntry.objects.filter(workspace_id=workspace.pk, at__in=moments, action=REVOKED)
    return {entry.facts["secret"]: entry.actor for entry in entries}


def _build_secret_row(
    secret: SigningSecret, state: str, backends: Sequence[Backend], actors: Mapping[str, str]
) -> SecretRow:
    users = [(backend, backend.last_uses[secret.pk]) for backend in backends if secret.pk in backend.last_uses]
    users.sort(key=lambda user: user[1], reverse=True)
    return SecretRow(secret, state, users, actors.get(secret.prefix, ""))


def _list_states(workspace: Workspace, now: datetime) -> list[tuple[SigningSecret, str]]:
    signer = find_signer(workspace)
    return [(secret, _name_state(secret, signer, now)) for secret in workspace.signing_secrets.order_by("-id")]


def _name_state(secret: SigningSecret, signer: SigningSecret | None, now: datetime) -> str:
    if secret.revoked_at is not None:
        return "revoked"
    if secret == signer:
        return "signs"
    if secret.signs_from is None:
        return "prepared"
    return "verifies" if secret.verifies_at(now) else "ended"


def _export_secrets(workspace: Workspace, now: datetime) -> Iterator[Sequence[Any]]:
    for secret, state in _list_states(workspace, now):
        yield (
            *(secret.prefix, state, secret.created_at, secret.created_by or None),
            *(secret.signs_from, secret.verifies_until, secret.revoked_at),
        )


def _export_uses(workspace: Workspace) -> Iterator[Sequence[Any]]:
    uses = SecretUse.objects.filter(secret__workspace=workspace).select_related("secret", "api_key", "environment")
    for use in uses.order_by("-last_at").iterator():
        key = use.api_key
        yield (use.secret.prefix, key.prefix, key.name, use.environment.name, use.count, use.last_at)
