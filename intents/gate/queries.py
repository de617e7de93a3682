"""The queries of confirmations, for pages."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from intents.gate.filters import ConfirmationFilters
from intents.gate.signed_operation_filter import match_signed_operation
from intents.models import Confirmation
from wire.time.period import Period
from workspaces.models import Environment

NO_FILTERS = ConfirmationFilters()


def has_confirmations(environment: Environment) -> bool:
    """Return whether a confirmation was ever requested."""
    return Confirmation.objects.filter(environment=environment).exists()


def has_decisions(environment: Environment) -> bool:
    """Return whether a confirmation was ever decided."""
    return Confirmation.objects.filter(environment=environment, decided_at__isnull=False).exists()


def list_pending(environment: Environment, *, now: datetime) -> QuerySet[Confirmation]:
    """Return the confirmations that can be decided now, the first to expire first."""
    pending = Confirmation.objects.filter(environment=environment, state=Confirmation.PENDING, expires_at__gt=now)
    return pending.order_by("created_at", "id")


def list_open(
    environment: Environment, filters: ConfirmationFilters = NO_FILTERS, *, now: datetime
) -> QuerySet[Confirmation]:
    """Return the open confirmations: the pending ones, and the decided ones whose decision can still be undone.

    So a decided row stays at its position on the page until its decision takes effect. The filter on the state is
    not applied.
    """
    is_open = Q(state=Confirmation.PENDING, expires_at__gt=now) | Q(effective_at__gt=now)
    confirmations = Confirmation.objects.filter(is_open, _match_filters(filters), environment=environment)
    return confirmations.order_by("created_at", "id")


def list_confirmations(
    environment: Environment, period: Period, filters: ConfirmationFilters = NO_FILTERS, *, now: datetime
) -> QuerySet[Confirmation]:
    """Return the confirmations requested in a period that match the filters, the latest first.

    If the filters name one confirmation by its id, the period does not count.
    """
    rows = Confirmation.objects.filter(_match_filters(filters), environment=environment)
    if not filters.confirmation_id:
        rows = rows.filter(created_at__gte=period.start, created_at__lt=period.end)
    confirmations = rows.order_by("-created_at", "id")
    return confirmations.filter(match_state(filters.state, now)) if filters.state else confirmations


def match_state(state: str, now: datetime) -> Q:
    """Return the condition on confirmations for which `Confirmation.state_at` returns this state."""
    is_undoable = Q(state__in=(Confirmation.CONFIRMED, Confirmation.DECLINED), effective_at__gt=now)
    has_effect = ~is_undoable
    match state:
        case Confirmation.PENDING:
            return is_undoable | Q(state=Confirmation.PENDING, expires_at__gt=now)
        case Confirmation.CONFIRMED:
            return Q(state=Confirmation.CONFIRMED, expires_at__gt=now) & has_effect
        case Confirmation.EXPIRED:
            has_run_out = Q(state__in=(Confirmation.PENDING, Confirmation.CONFIRMED), expires_at__lte=now)
            return Q(state=Confirmation.EXPIRED) | has_run_out & has_effect
        case _:
            return Q(state=state) & has_effect


def _match_filters(filters: ConfirmationFilters) -> Q:
    """Return the condition of all filters but the state."""
    conditions = {"sub": filters.user, "id": filters.confirmation_id}
    exact_condition = Q(**{column: value for column, value in conditions.items() if value})
    return exact_condition & match_signed_operation(filters.operation) if filters.operation else exact_condition


def find_readable_environment_name(environment: Environment, confirmation_id: UUID) -> str | None:
    """Return the name of the other environment that has this confirmation.

    Return None if it is in no environment that the reader of the page may see.
    """
    confirmations = Confirmation.objects.filter(pk=confirmation_id, environment__in=environment.readable_siblings)
    return confirmations.values_list("environment__name", flat=True).first()


def find_environment_name(workspace_id: str, confirmation_id: UUID) -> str | None:
    """Return the name of the environment of a confirmation of this workspace; None if it has no such confirmation."""
    confirmations = Confirmation.objects.filter(pk=confirmation_id, environment__workspace=workspace_id)
    return confirmations.values_list("environment__name", flat=True).first()
