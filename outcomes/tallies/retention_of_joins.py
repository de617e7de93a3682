"""For how many days single broken joins are kept. Only tallies count those that retention has deleted."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from outcomes.tallies.first_and_last_data import find_first_data
from wire.time.period import Period
from workspaces.models import Environment, RetentionPolicy


def find_retention_days(environment: Environment, period: Period) -> int | None:
    """Return for how many days broken joins are kept, if the period begins earlier; tallies count all joins."""
    policies = RetentionPolicy.objects.filter(workspace=environment.workspace_id)
    days: int | None = policies.values_list("broken_joins", flat=True).first()
    return days if days and period.start < timezone.now() - timedelta(days=days) else None


def find_retention_days_if_pruned(environment: Environment, period: Period) -> int | None:
    """Return for how many days broken joins are kept, if retention may have deleted some of the period.

    None if the data of the environment began so late that all its joins are kept.
    """
    days = find_retention_days(environment, period)
    first_data = find_first_data(environment) if days else None
    return days if days and first_data and first_data < timezone.now() - timedelta(days=days) else None
