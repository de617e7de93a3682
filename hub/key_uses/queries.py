"""Read what each API key did. No table records this separately, so it is read from the rows of the domains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count

from intents.models import Confirmation
from intents.rejections.queries import NO_FILTERS, count_by_key
from outcomes.broken_joins.rates import read_rates_by_api_key
from outcomes.tallies.moved_counts import count_moved
from wire.time.period import Period
from workspaces.models import ApiKey, Environment, Workspace
from workspaces.secrets.uses import list_backends

LONGEST_WAIT = timedelta(days=1)  # a confirmation is decided within minutes of its request


@dataclass(frozen=True)
class KeyUse:
    """What one key did in one environment in a period.

    outcomes: the outcomes that it was the first to report to this environment. Broken joins are included, and outcomes
        that were moved to another environment since.
    moved_away: how many of them were moved, for each environment that has them now.
    moved_here: how many outcomes were moved here, for each environment to which the key had reported them.
    rejections: the rejected calls that it reported and that are still stored one by one.
    decisions: the confirmations that it decided.
    verified_at: the last verification that it reported, if that was within a week.
    """

    environment: Environment
    outcomes: int = 0
    broken_joins: int = 0
    rejections: int = 0
    decisions: int = 0
    verified_at: datetime | None = None
    moved_away: Mapping[str, int] = field(default_factory=dict)
    moved_here: Mapping[str, int] = field(default_factory=dict)


def read_key_uses(workspace: Workspace, period: Period, *, now: datetime) -> Mapping[int, Sequence[KeyUse]]:
    """Return the uses of each key by its row id, in the order of the environments. Omit keys without a use."""
    keys = {str(key): key for key in workspace.api_keys.all()}
    backends = list_backends(workspace, now=now)
    last_verifications = {(item.key.pk, item.environment.pk): max(item.last_uses.values()) for item in backends}
    uses: dict[int, list[KeyUse]] = defaultdict(list)
    for environment in workspace.environments.order_by("pk"):
        moved = count_moved(environment, period)
        rates = {rate.name: rate for rate in read_rates_by_api_key(environment, period).rates}
        rows = count_by_key(environment, period, NO_FILTERS)
        rejections = {row.key.pk: row.rejections for row in rows if row.key}
        decisions = _count_decisions(environment, period, keys)
        for name, key in keys.items():
            rate = rates.get(name)
            use = KeyUse(
                environment,
                moved.count_reported(key.pk, rate.total_reported if rate else 0),
                rate.total_broken if rate else 0,
                rejections.get(key.pk, 0),
                decisions[name],
                last_verifications.get((key.pk, environment.pk)),
                moved.away.get(key.pk, {}),
                moved.here.get(key.pk, {}),
            )
            if use != KeyUse(environment):
                uses[key.pk].append(use)
    return uses


def find_last_use(key: ApiKey, uses: Iterable[KeyUse]) -> datetime | None:
    """Return when a key was last used: its last request, or a later verification that it reported; None for never."""
    moments = [key.last_used_at, *(use.verified_at for use in uses)]
    return max((moment for moment in moments if moment), default=None)


def _count_decisions(environment: Environment, period: Period, keys: Mapping[str, ApiKey]) -> Counter[str]:
    """Count the confirmations that each key decided in the period, by the key's name in records."""
    confirmations = Confirmation.objects.filter(
        environment=environment,
        created_at__gte=period.start - LONGEST_WAIT,
        decided_at__gte=period.start,
        decided_at__lt=period.end,
        decided_by__in=[f"key {name}" for name in keys],
    )
    counts = confirmations.values_list("decided_by").annotate(count=Count("pk"))
    return Counter({actor.removeprefix("key "): count for actor, count in counts})
