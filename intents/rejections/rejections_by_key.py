"""Sum single rejections by the API key that reported them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db.models import Max, Sum

from intents.rejections.filters import RejectionFilters
from intents.rejections.single_rejections import list_rejections
from intents.rejections.tallies.read_tallies import NO_FILTERS
from wire.time.period import Period
from workspaces.models import ApiKey, Environment

MAX_BY_KEY = 10_000  # single rejections, the latest, that the page sums by key
MAX_REASONS = 3  # of one key, on the page; the export has all


@dataclass(frozen=True)
class KeyRejections:
    """The rejections that one API key reported.

    key: None for rejections whose key was not stored.
    reasons: the number with each reason, the most frequent first.
    """

    key: ApiKey | None
    reasons: Mapping[str, int]
    last_at: datetime

    @property
    def rejections(self) -> int:
        return sum(self.reasons.values())

    @property
    def main_reasons(self) -> Mapping[str, int]:
        """Return the most frequent reasons; all of them if only one more would be left out."""
        is_cut = len(self.reasons) > MAX_REASONS + 1
        return dict(islice(self.reasons.items(), MAX_REASONS)) if is_cut else self.reasons

    @property
    def other_reasons(self) -> int:
        return len(self.reasons) - len(self.main_reasons)


def find_first_of_latest(environment: Environment, period: Period, filters: RejectionFilters) -> datetime | None:
    """Return the time of the first of the latest MAX_BY_KEY single rejections; None if the period has fewer.

    Return None with filters, too: no index covers them, so finding this moment would take as long as the whole sum.
    """
    if filters != NO_FILTERS:
        return None
    moments = list_rejections(environment, period, filters).values_list("occurred_at", flat=True)
    return next(iter(moments[MAX_BY_KEY - 1 : MAX_BY_KEY]), None)


def count_by_key(
    environment: Environment, period: Period, filters: RejectionFilters, *, since: datetime | None = None
) -> Sequence[KeyRejections]:
    """Sum the single rejections by the key that reported them, the key with most rejections first.

    Tallies cannot be used, because they name no key.

    since: leave out earlier rejections.
    """
    rejections = list_rejections(environment, period, filters)
    if since:
        rejections = rejections.filter(occurred_at__gte=since)
    rows = rejections.order_by().values_list("api_key_id", "reason")
    sums = rows.annotate(sum=Sum("count"), last_at=Max("occurred_at")).order_by("-sum", "reason")
    reasons: dict[int | None, dict[str, int]] = {}
    latest: dict[int | None, datetime] = {}
    for key_id, reason, count, last_at in sums:
        reasons.setdefault(key_id, {})[reason] = int(count)
        latest[key_id] = max(latest.get(key_id, last_at), last_at)
    keys = environment.workspace.api_keys.in_bulk()
    key_rows = [KeyRejections(keys.get(key_id), counts, latest[key_id]) for key_id, counts in reasons.items()]
    return sorted(key_rows, key=lambda row: -row.rejections)
