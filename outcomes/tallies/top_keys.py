"""The leading keys of a range, found without reading all of them.

Each bucket of the range gives its largest keys, by index; what it keeps back is no larger than the last of these. So
what was seen of a key, and all that was kept back, are the bounds between which it lies; only keys that may be among
the first are then read exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from django.db import connection

from outcomes.models import STEPS
from outcomes.tallies import keys
from outcomes.tallies.keys import KeyLine, KeyPage, containing, named
from outcomes.tallies.spans import cover, starts
from wire.period import Period
from workspaces.models import Environment

ALL_KEYS = ""
# Of each bucket, so many times the keys that are wanted: more of the longer ones, of which there are few.
DEPTHS = ({"q": 1, "d": 4, "m": 16}, {"q": 8, "d": 24, "m": 48})
FEW = 8  # times as many candidates as keys that are wanted are read exactly, no more
FAR = 500  # keys from the first on, beyond which reading all of them is no dearer
FEW_HOLD_IT = 1500  # keys that hold what is searched for, up to which they are simply read
SHORT = 100_000  # reports within quarter hours only: their keys are spread so thin that looking for leaders is in vain

LARGEST = f"""
WITH large AS (
  SELECT bucket.*, found.*
  FROM unnest(%(grains)s::text[], %(starts)s::timestamptz[], %(depths)s::int[]) AS bucket (grain, at, depth)
  CROSS JOIN LATERAL (
    SELECT outcome_key, outcomes, magnitude FROM outcomes_tally
    WHERE environment_id = %(environment)s AND grain = bucket.grain AND starts_at = bucket.at AND outcome_key <> ''
      AND {containing("outcome_key")}
    ORDER BY magnitude DESC LIMIT bucket.depth
  ) AS found
), kept_back AS (
  SELECT (((%(steps)s::bigint[])[min(magnitude) + 1] - 1) * (
    SELECT count(*) FROM outcomes_tally
    WHERE environment_id = %(environment)s AND grain = large.grain AND starts_at = large.at AND outcome_key = ''
  ))::bigint AS at_most
  FROM large GROUP BY grain, at, depth HAVING count(*) = depth
)
SELECT outcome_key, sum(outcomes)::bigint, (SELECT coalesce(sum(at_most), 0)::bigint FROM kept_back),
       (SELECT count(*) FROM kept_back)
FROM large GROUP BY outcome_key
"""


@dataclass(frozen=True)
class Largest:
    """Keys with the outcomes that were seen of each, and how many more of any key there may be.

    complete: whether nothing was kept back, so that there is no other key.
    """

    seen: Mapping[str, int]
    at_most_more: int
    complete: bool

    def beside(self, other: Largest) -> Largest:
        """The same keys of two environments together."""
        seen = Counter(self.seen)
        seen.update(other.seen)
        return Largest(seen, self.at_most_more + other.at_most_more, self.complete and other.complete)

    def may_lead(self, count: int) -> tuple[Sequence[str], int]:
        """Those that may be among the first `count`, and how many outcomes any other key has at most.

        A lane that takes away may be among what was kept back, so whether they are the first is still to be seen.
        """
        last = sorted(self.seen.values(), reverse=True)[count - 1 : count]
        least = last[0] - self.at_most_more if last else 0
        others = max((outcomes for outcomes in self.seen.values() if outcomes < least), default=0)
        return [key for key, outcomes in self.seen.items() if outcomes >= least], others + self.at_most_more


def page(environment: Environment, period: Period, *, search: str, start: int, limit: int, lead: int) -> KeyPage:
    """As `keys.page`; the keys are counted only where all of them had to be read."""
    lines, only = leaders(environment, period, max(start + limit, lead) + 1, search=search)
    if not lines:
        return keys.page(environment, period, search=search, start=start, limit=limit, lead=lead, only=only)
    everything = named(environment, period, [ALL_KEYS])[ALL_KEYS]
    return KeyPage(lines[start : start + limit], lines[:lead], everything.of(len(lines)), counted=False)


def leaders(
    environment: Environment, period: Period, count: int, *, search: str = ""
) -> tuple[Sequence[KeyLine], Sequence[str] | None]:
    """The first so many keys in the order of the table; none where they cannot be told without reading all keys.

    Then with all keys that hold the text, where they are few.
    """
    if search and len(few := keys.holding(environment, search, limit=FEW_HOLD_IT + 1)) <= FEW_HOLD_IT:
        return (), few
    for depths in deeper(count) if count <= FAR and not is_short(environment, period) else ():
        found = largest(environment, period, depths, search)
        if found.complete:
            return (), also_before(environment, period, found, depths, search) if search else None
        candidates, others_at_most = found.may_lead(count)
        if len(candidates) <= FEW * count:
            lines = sorted(named(environment, period, candidates).values(), key=attrgetter("rank"))[:count]
            if len(lines) == count and lines[-1].outcomes > others_at_most:
                return lines, None
    return (), None


def deeper(count: int) -> Sequence[Mapping[str, int]]:
    """How many keys to look at of a bucket of each grain: at first, and where that does not decide."""
    return [{grain: times * count for grain, times in depths.items()} for depths in DEPTHS]


def is_short(environment: Environment, period: Period) -> bool:
    """Whether reading all keys of the range is no dearer than looking for the leading ones."""
    if any(segment.grain != "q" for segment in cover(period.start, period.end)):
        return False
    return named(environment, period, [ALL_KEYS])[ALL_KEYS].reports <= SHORT


def also_before(
    environment: Environment, period: Period, now: Largest, depths: Mapping[str, int], search: str
) -> Sequence[str] | None:
    """The keys of the range, and those of the period before where they are few too."""
    before = largest(environment, period.previous(), depths, search)
    return [*now.seen, *before.seen] if before.complete else None


def largest(environment: Environment, period: Period, depths: Mapping[str, int], search: str) -> Largest:
    """The largest keys of each bucket of the range; depths: how many of a bucket, by grain."""
    buckets = [(segment.grain, at) for segment in cover(period.start, period.end) for at in starts(segment)]
    query = {
        "environment": environment.pk,
        "search": search,
        "grains": [grain for grain, _ in buckets],
        "starts": [at for _, at in buckets],
        "depths": [depths[grain] for grain, _ in buckets],
        "steps": STEPS,
    }
    with connection.cursor() as cursor:
        cursor.execute(LARGEST, query)
        rows = cursor.fetchall()
    at_most_more, kept_back = rows[0][2:] if rows else (0, 0)
    return Largest({key: outcomes for key, outcomes, *_ in rows}, at_most_more, not kept_back)
