"""Read when environments and operations were last verified, over all time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from django.db.models import Max, QuerySet

from intents.models import ALL_VERSIONS, VerificationRollup
from workspaces.models import Environment


def read_last_verifications(environment: Environment) -> Iterator[tuple[str, datetime]]:
    """Yield each operation that was ever verified, accepted or not, with the time of its last verification.

    The operation "" stands for all verifications that were reported without one.
    """
    months = VerificationRollup.objects.filter(environment=environment, grain="m", version__gt=ALL_VERSIONS)
    yield from months.values_list("operation").annotate(last_at=Max("last_at")).order_by("operation")


def find_last_verifications(environments: Collection[int]) -> Mapping[int, datetime]:
    """Return the time of the last verification, accepted or not, by the row id of each environment that has any."""
    sums = list_months(environments).order_by().values_list("environment_id")
    return dict(sums.annotate(last_at=Max("last_at")))


def list_months(environments: Collection[int]) -> QuerySet[VerificationRollup]:
    """Return the sums by month and result of these environments, over all versions and operations."""
    return VerificationRollup.objects.filter(environment__in=environments, grain="m", version=ALL_VERSIONS)
