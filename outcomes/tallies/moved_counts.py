"""Count what moves changed: the outcomes that were reported to another environment than the one that has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from outcomes.models import Move
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import Environment, Workspace

ApiKeyId = int | None
"""The row id of the API key that reported first; None if it is not known."""

CountedRow = tuple[str, str, ApiKeyId, bool, ApiKeyId, bool, int]
"""A row of SELECT_COUNTED."""

ANOTHER = "another environment"  # its name, if the reader may not see it

# The outcomes that were moved from an environment or to it, with their moved reports.
MOVED = """
SELECT {row} AS conversation_id, outcome_key, first_reported_at, reported_by,
       CASE WHEN other.id = ANY(%(readable)s) THEN other.name ELSE %(another)s END AS other
FROM outcomes_movedoutcome JOIN outcomes_move AS move ON move.id = move_id
JOIN workspaces_environment AS other ON other.id = move.{other}_id
WHERE move.{own}_id = %(environment)s AND move.undone_at IS NULL
"""
# The same with each outcome once, by the first of its moved reports: an outcome that is reported again after its move
# can be moved again.
MOVED_ONCE = f"""
SELECT DISTINCT ON (conversation_id, outcome_key) * FROM ({MOVED}) AS moved
ORDER BY conversation_id, outcome_key, first_reported_at, coalesce(reported_by, 0)
"""
SELECT_HERE = """
SELECT reported_by, other, count(*)
FROM ({moved}) AS moved
WHERE first_reported_at >= %(start)s AND first_reported_at < %(end)s
GROUP BY 1, 2
"""
# Those moved away, each with the first report that it got here after its move, if any: tallies count it there again.
# If its conversation was deleted here since, it would not be counted without the move either. Conversations are looked
# up one by one (OFFSET 0), because a join might read all of them.
SELECT_AWAY = """
SELECT reported_by, other, first_reported_at >= %(start)s AND first_reported_at < %(end)s, is_known,
       again_reported_by, coalesce(again_at >= %(start)s AND again_at < %(end)s, false), count(*)
FROM ({moved}) AS moved
CROSS JOIN LATERAL (
  SELECT started_at IS NOT NULL AS is_known FROM outcomes_conversation
  WHERE environment_id = %(environment)s AND id = moved.conversation_id OFFSET 0
) AS conversation
LEFT JOIN LATERAL (
  SELECT CASE WHEN moved_in > 0 THEN own_first_reported_at ELSE outcome.first_reported_at END AS again_at,
         CASE WHEN moved_in > 0 THEN own_reported_by ELSE outcome.reported_by END AS again_reported_by
  FROM outcomes_outcome AS outcome
  WHERE environment_id = %(environment)s AND conversation_id = moved.conversation_id
    AND outcome_key = moved.outcome_key
) AS again ON true
WHERE (again_at IS NULL OR again_at > first_reported_at)
  AND (first_reported_at >= %(start)s AND first_reported_at < %(end)s OR again_at >= %(start)s AND again_at < %(end)s)
GROUP BY 1, 2, 3, 4, 5, 6
"""

# Outcomes that have reports from other environments, grouped by two reports. Tallies count an outcome under the API key
# and the time of its first report of all. Without moves, they would count it under those of the first report to this
# environment (own_…), if there is one.
SELECT_COUNTED = """
SELECT outcome_key, other, outcome.reported_by,
       outcome.first_reported_at >= %(start)s AND outcome.first_reported_at < %(end)s,
       own_reported_by, coalesce(own_first_reported_at >= %(start)s AND own_first_reported_at < %(end)s, false),
       count(*)
FROM ({moved}) AS moved JOIN outcomes_outcome AS outcome USING (conversation_id, outcome_key)
WHERE environment_id = %(environment)s AND moved_in > 0
GROUP BY 1, 2, 3, 4, 5, 6
"""


@dataclass(frozen=True)
class MovedCounts:
    """The moved outcomes of a period.

    away: how many were first reported to this environment in the period and moved to another, by API key, then by the
        other's name.
    here: how many were first reported to another environment in the period and moved here, by API key, then by the
        other's name. Those that were merged with an outcome of this environment are included.
    added: how many outcomes of the period would not be among them without the moves here, by the other's name. A moved
        outcome that was merged with one that was in the period, or in an earlier one, is no additional one.
    added_by_key: the same by outcome key.
    gained: by how many the moves here changed the number of outcomes, by API key: by those that they added, less those
        that they dated back to before the period.
    gained_by_key: the same by outcome key.
    again: how many of those moved away, in any period, were reported here again in this one, by API key: without moves,
        these would be repeats.
    away_broken: how many of `away` would be broken joins without moves: their conversation is not registered here.
    again_broken: how many of `again` are broken joins.
    """

    away: Mapping[ApiKeyId, Mapping[str, int]] = field(default_factory=dict)
    here: Mapping[ApiKeyId, Mapping[str, int]] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)
    added_by_key: Mapping[str, int] = field(default_factory=dict)
    gained: Mapping[ApiKeyId, int] = field(default_factory=dict)
    gained_by_key: Mapping[str, int] = field(default_factory=dict)
    again: Mapping[ApiKeyId, int] = field(default_factory=dict)
    away_broken: int = 0
    again_broken: int = 0

    @property
    def total_away(self) -> Mapping[str, int]:
        return _sum_by_name(self.away.values())

    def count_reported(self, api_key: ApiKeyId, outcomes: int) -> int:
        """Return how many outcomes this API key reported to the environment.

        outcomes: how many outcomes of this API key the environment has now, those that were moved here included.
        """
        repeats = self.again.get(api_key, 0)
        return outcomes - self.gained.get(api_key, 0) - repeats + sum(self.away.get(api_key, {}).values())

    def count_all_reported(self, outcomes: int) -> int:
        """Return how many outcomes all API keys together reported to the environment.

        outcomes: how many outcomes the environment has now, those that were moved here included.
        """
        repeats = sum(self.again.values())
        return outcomes - sum(self.gained.values()) - repeats + sum(self.total_away.values())

    def count_all_broken(self, broken_joins: int) -> int:
        """Return how many broken joins there would be without moves.

        broken_joins: how many the environment has now.
        """
        return broken_joins - self.again_broken + self.away_broken


NOTHING_MOVED = MovedCounts()


def find_environments_with_moves(workspace: Workspace) -> set[int]:
    """Return the row ids of the environments from which or to which outcomes were moved."""
    moves = Move.objects.filter(source__workspace=workspace, undone_at=None).values_list("source_id", "target_id")
    return {environment for move in moves for environment in move}


def count_moved(environment: Environment, period: Period) -> MovedCounts:
    """Count the moved outcomes in whole quarter hours of the period, as tallies do. Undone moves do not count."""
    moves = Move.objects.list_for(environment).filter(undone_at=None)
    sources = list(moves.values_list("source_id", flat=True))
    if not sources:
        return NOTHING_MOVED
    start, end = widen_to_quarters(period)
    readable = list(environment.readable.values_list("pk", flat=True))
    names: dict[str, Any] = {"readable": readable, "another": ANOTHER}
    parameters: dict[str, Any] = {"environment": environment.pk, "start": start, "end": end, **names}
    moves_away = sources.count(environment.pk)
    with get_read_connection().cursor() as cursor:
        moved_here = _write_moved("conversation_id", "target", "source", moves=len(sources) - moves_away)
        cursor.execute(SELECT_HERE.format(moved=moved_here), parameters)
        here_rows = cursor.fetchall()
        moved_away = _write_moved("came_from_id", "source", "target", moves=moves_away)
        cursor.execute(SELECT_AWAY.format(moved=moved_away), parameters)
        away_rows = cursor.fetchall()
        cursor.execute(SELECT_COUNTED.format(moved=moved_here), parameters)
        counted_rows = cursor.fetchall()
    away_counts = _group_by_api_key(
        (api_key, name, count) for api_key, name, is_counted, *_, count in away_rows if is_counted
    )
    added, added_by_key = _sum_added(counted_rows)
    gained, gained_by_key = _sum_gained(counted_rows)
    again: Counter[ApiKeyId] = Counter()
    for *_, api_key, is_again, count in away_rows:
        again[api_key] += is_again * count
    away_broken = sum(count for _, _, is_counted, is_known, *_, count in away_rows if is_counted and not is_known)
    again_broken = sum(count for *_, is_known, _, is_again, count in away_rows if is_again and not is_known)
    return MovedCounts(
        away=away_counts,
        here=_group_by_api_key(here_rows),
        added=added,
        added_by_key=added_by_key,
        gained=gained,
        gained_by_key=gained_by_key,
        again=dict(+again),
        away_broken=away_broken,
        again_broken=again_broken,
    )


def _write_moved(row: str, own: str, other: str, *, moves: int) -> str:
    """Write the query of the outcomes that were moved in one direction. A single move moves no outcome twice."""
    return (MOVED_ONCE if moves > 1 else MOVED).format(row=row, own=own, other=other)


def _group_by_api_key(rows: Iterable[tuple[ApiKeyId, str, int]]) -> Mapping[ApiKeyId, Mapping[str, int]]:
    counts: dict[ApiKeyId, dict[str, int]] = {}
    for api_key, name, count in rows:
        of_api_key = counts.setdefault(api_key, {})
        of_api_key[name] = of_api_key.get(name, 0) + count
    return counts


def _sum_by_name(parts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    """Return a dict, not a Counter: in a template, `counts.items` would be the Counter's 0 for the key `items`."""
    return dict(sum(map(Counter, parts), Counter[str]()))


def _sum_added(rows: Iterable[CountedRow]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return how many outcomes the moves here added to the period, by the other's name and by outcome key.

    rows: those of SELECT_COUNTED.
    """
    by_name: Counter[str] = Counter()
    by_key: Counter[str] = Counter()
    for key, name, _, is_counted, _, would_count, count in rows:
        if is_counted and not would_count:
            by_name[name] += count
            by_key[key] += count
    return dict(by_name), dict(by_key)


def _sum_gained(rows: Iterable[CountedRow]) -> tuple[Mapping[ApiKeyId, int], Mapping[str, int]]:
    """Return by how many the moves here changed the number of outcomes, by API key and by outcome key.

    rows: those of SELECT_COUNTED.
    """
    by_api_key: Counter[ApiKeyId] = Counter()
    by_key: Counter[str] = Counter()
    for key, _, api_key, is_counted, own_api_key, would_count, count in rows:
        by_api_key[api_key] += is_counted * count
        by_api_key[own_api_key] -= would_count * count
        by_key[key] += (is_counted - would_count) * count
    return (
        {api_key: count for api_key, count in by_api_key.items() if count},
        {key: count for key, count in by_key.items() if count},
    )
