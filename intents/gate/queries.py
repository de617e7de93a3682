"""The queries of confirmations, for pages."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from intents.models import Confirmation
from wire.period import Period
from workspaces.models import Environment


def has_confirmations(environment: Environment) -> bool:
    """Whether a confirmation was ever requested."""
    return Confirmation.objects.filter(environment=environment).exists()


def has_decisions(environment: Environment) -> bool:
    """Whether a confirmation was ever decided."""
    return Confirmation.objects.filter(environment=environment, decided_at__isnull=False).exists()


def list_pending(environment: Environment, *, now: datetime) -> QuerySet[Confirmation]:
    """Return the confirmations that can be decided now, the first to expire first."""
    pending = Confirmation.objects.filter(environment=environment, state=Confirmation.PENDING, expires_at__gt=now)
    return pending.order_by("created_at", "id")


def list_undecided(environment: Environment, *, now: datetime) -> QuerySet[Confirmation]:
    """Return the pending confirmations and those whose decision can be undone: a decided row stays where it was."""
    is_open = Q(state=Confirmation.PENDING, expires_at__gt=now) | Q(effective_at__gt=now)
    return Confirmation.objects.filter(is_open, environment=environment).order_by("created_at", "id")


def list_confirmations(environment: Environment, period: Period) -> QuerySet[Confirmation]:
    """Return the confirmations requested in a period, in whatever state, the latest first."""
    return Confirmation.objects.filter(
        environment=environment, created_at__gte=period.start, created_at__lt=period.end
    ).order_by("-created_at", "id")


def count_expired(confirmations: QuerySet[Confirmation], *, now: datetime) -> int:
    """Count the confirmations for which `Confirmation.state_at` returns `expired` at `now`."""
    has_run_out = Q(state__in=(Confirmation.PENDING, Confirmation.CONFIRMED), expires_at__lte=now)
    has_effect = Q(effective_at=None) | Q(effective_at__lte=now)
    return confirmations.filter(Q(state=Confirmation.EXPIRED) | has_run_out & has_effect).count()


def find_environment_name(workspace_id: str, confirmation_id: UUID) -> str | None:
    """Return the name of the environment of a confirmation of this workspace; None if it has no such confirmation."""
    confirmations = Confirmation.objects.filter(pk=confirmation_id, environment__workspace=workspace_id)
    return confirmations.values_list("environment__name", flat=True).first()
