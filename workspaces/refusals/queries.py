"""Read the requests of a workspace's keys that the hub refused in a period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Max, Min, Q, QuerySet, Sum

from wire.time.period import Period
from workspaces.models import ApiKey, RefusalTally, Workspace

REVOKED = "invalid-api-key"  # the code of the answer to a revoked key


@dataclass(frozen=True)
class RefusalGroup:
    """The requests of one key that one endpoint refused with one code in a period."""

    key: ApiKey
    endpoint: str
    code: str
    count: int
    first_at: datetime
    last_at: datetime


def filter_tallies(workspace: Workspace, period: Period, key: ApiKey | None = None) -> QuerySet[RefusalTally]:
    """Return the tallies of a period, of one key or of all. Its first and its last hour count as a whole."""
    start = period.start.replace(minute=0, second=0, microsecond=0)
    tallies = RefusalTally.objects.filter(workspace=workspace, starts_at__gte=start, starts_at__lt=period.end)
    return tallies.filter(api_key=key) if key else tallies


def list_refusals(workspace: Workspace, period: Period, key: ApiKey | None = None) -> Sequence[RefusalGroup]:
    """Return the refused requests by key, endpoint and code, the latest first."""
    keys = workspace.api_keys.in_bulk()
    sums = filter_tallies(workspace, period, key).values_list("api_key_id", "endpoint", "code")
    rows = sums.annotate(total=Sum("count"), first=Min("first_at"), last=Max("last_at")).order_by("-last", "endpoint")
    return [RefusalGroup(keys[key_id], *values) for key_id, *values in rows if key_id in keys]


def count_refusals(workspace: Workspace, period: Period) -> Mapping[int, int]:
    """Return the number of refused requests by the row id of their key; only of keys that have any.

    For a revoked key, only requests that were refused because it is revoked count: they show that somebody still uses
    it.
    """
    is_current = Q(api_key__revoked_at=None) | Q(code=REVOKED, last_at__gte=F("api_key__revoked_at"))
    tallies = filter_tallies(workspace, period).filter(is_current)
    return dict(tallies.values_list("api_key_id").annotate(total=Sum("count")))
