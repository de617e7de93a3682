"""When environments were first and last verified, and operations last, over all time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from django.db.models import Max, Min, QuerySet

from intents.models import ALL_VERSIONS, Rejection, VerificationRollup, VerificationTally
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


def has_verifications(environment: Environment) -> bool:
    """Return whether a verification was ever reported."""
    return VerificationTally.objects.filter(environment=environment).exists()


def find_first_data(environment: Environment) -> datetime | None:
    """Return the first quarter hour with a verification; None if there is none."""
    tallies = VerificationTally.objects.filter(environment=environment)
    first: datetime | None = tallies.aggregate(first=Min("start"))["first"]
    return first


def find_first_moment(environment: Environment) -> datetime | None:
    """Return the time of the first verification, or of one soon after it: single accepted calls are not stored.

    Return None if there is no verification.
    """
    first = find_first_data(environment)
    if first is None:
        return None
    last_at = VerificationTally.objects.filter(environment=environment, start=first).aggregate(at=Min("last_at"))["at"]
    rejections = Rejection.objects.filter(environment=environment, occurred_at__gte=first, occurred_at__lt=last_at)
    first_rejected: datetime | None = rejections.aggregate(at=Min("occurred_at"))["at"]
    return first_rejected or last_at
