"""Read what each API key did. No table records this separately, so it is read from the rows of the domains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Sum

from intents.models import Confirmation, Rejection
from outcomes.broken_joins.rates import sum_by_api_key
from outcomes.tallies.moved_counts import NOTHING_MOVED, count_moved, find_environments_with_moves
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
    environments = list(workspace.environments.order_by("pk"))
    ids = [environment.pk for environment in environments]
    sums, rejections = sum_by_api_key(ids, period), _count_rejections(ids, period)
    decisions, with_moves = _count_decisions(ids, period, keys), find_environments_with_moves(workspace)
    uses: dict[int, list[KeyUse]] = defaultdict(list)
    for environment in environments:
        moves = count_moved(environment, period) if environment.pk in with_moves else NOTHING_MOVED
        for name, key in keys.items():
            reported, broken = sums.get((environment.pk, key.pk), (0, 0))
            use = KeyUse(
                environment,
                moves.count_reported(key.pk, reported),
                broken,
                rejections[environment.pk, key.pk],
                decisions[environment.pk, name],
                last_verifications.get((key.pk, environment.pk)),
                moves.away.get(key.pk, {}),
                moves.here.get(key.pk, {}),
            )
            if use != KeyUse(environment):
                uses[key.pk].append(use)
    return uses


def find_last_use(key: ApiKey, uses: Iterable[KeyUse]) -> datetime | None:
    """Return when a key was last used: its last request, or a later verification that it reported; None for never."""
    moments = [key.last_used_at, *(use.verified_at for use in uses)]
    return max((moment for moment in moments if moment), default=None)


def _count_rejections(environments: Sequence[int], period: Period) -> Counter[tuple[int, int | None]]:
    """Sum the single rejections of the period, by the row ids of environment and API key."""
    rejections = Rejection.objects.filter(
        environment__in=environments, occurred_at__gte=period.start, occurred_at__lt=period.end
    )
    sums = rejections.order_by().values_list("environment_id", "api_key_id").annotate(sum=Sum("count"))
    return Counter({(environment, api_key): int(count) for environment, api_key, count in sums})


def _count_decisions(
    environments: Sequence[int], period: Period, keys: Mapping[str, ApiKey]
) -> Counter[tuple[int, str]]:
    """Count the decisions of the period by environment and by the name that records have for the key."""
    confirmations = Confirmation.objects.filter(
        environment__in=environments,
        created_at__gte=period.start - LONGEST_WAIT,
        decided_at__gte=period.start,
        decided_at__lt=period.end,
        decided_by__in=[f"key {name}" for name in keys],
    )
    counts = confirmations.order_by().values_list("environment_id", "decided_by").annotate(count=Count("pk"))
    return Counter({(environment, actor.removeprefix("key ")): count for environment, actor, count in counts})
