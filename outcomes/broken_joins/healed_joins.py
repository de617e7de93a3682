"""The joins that healed, how long they took, and how many will still heal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Coalesce

from outcomes.analytics.lag import median_length
from outcomes.broken_joins.queries import period_filter
from outcomes.models import Outcome
from wire.time.period import Period
from workspaces.models import Environment

MAX_HEALED_MEASURED = 5000  # the time to heal is read for the latest healed joins only
BROKEN_SINCE = Coalesce("own_first_reported_at", "first_reported_at")  # as Outcome.healed_after
TIME_TO_HEAL = ExpressionWrapper(F("healed_at") - BROKEN_SINCE, output_field=DurationField())


@dataclass(frozen=True)
class Healing:
    """The broken joins that healed in a period.

    lengths: how long each of the latest of them took to heal, for at most MAX_HEALED_MEASURED joins.
    """

    count: int
    lengths: Sequence[timedelta]

    @property
    def sample_size(self) -> int:
        return len(self.lengths)

    @property
    def median(self) -> timedelta | None:
        return median_length(self.lengths)

    @property
    def longest(self) -> timedelta | None:
        return max(self.lengths, default=None)


def find_healed_outcomes(environment: Environment, period: Period) -> QuerySet[Outcome]:
    """Return outcomes that healed in the period, the latest first."""
    return (
        Outcome.objects.filter(environment=environment, **period_filter("healed_at", period))
        .select_related("conversation")
        .order_by("-healed_at", "-conversation_id", "outcome_key")
    )


def measure_healing(environment: Environment, period: Period) -> Healing:
    outcomes = Outcome.objects.filter(environment=environment, **period_filter("healed_at", period))
    latest = outcomes.order_by("-healed_at").values_list(TIME_TO_HEAL, flat=True)[:MAX_HEALED_MEASURED]
    lengths = list(latest)
    count = len(lengths) if len(lengths) < MAX_HEALED_MEASURED else outcomes.count()
    return Healing(count, lengths)


def find_longest_healing(environment: Environment) -> timedelta | None:
    """Return the longest time that one of the latest healed joins of any period took; None if nothing has healed."""
    healed_joins = Outcome.objects.filter(environment=environment, healed_at__isnull=False).order_by("-healed_at")
    return max(healed_joins.values_list(TIME_TO_HEAL, flat=True)[:MAX_HEALED_MEASURED], default=None)


def estimate_healing(pending: float, healed: int, broken: int) -> float:
    """Estimate what share of some broken joins will still heal, 0 to 1.

    pending: the share of healings that take longer than these joins have waited so far.
    healed, broken: how many joins have healed, and how many are broken. These tell how likely joins are to heal.
    """
    still_healing = healed * pending
    return still_healing / (still_healing + broken) if still_healing else 0.0
