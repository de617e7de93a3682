"""Broken joins grouped by their cause: a diagnosis, and the environment that knows the id (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from outcomes.broken_joins.causes.diagnose import Diagnosis

MAX_EXAMPLES = 5  # first joins of a cause
NAMED_IDS = 2  # of these, the ids that the page names at most


@dataclass(frozen=True)
class BrokenJoin:
    """A reported outcome whose conversation is not known, and the probable reason (`diagnosis`)."""

    conversation_id: str
    outcome_key: str
    reports: int
    first_reported_at: datetime
    last_reported_at: datetime
    diagnosis: Diagnosis
    reported_by: int | None = None

    def matches(self, kind: str, environment: str = "", key: str = "") -> bool:
        """Return whether this join has this diagnosis and outcome key, and its id is known in this environment.

        "" stands for any.
        """
        own_values = self.diagnosis.kind, self.diagnosis.found_in, self.outcome_key
        return all(
            value in ("", own_value) for value, own_value in zip((kind, environment, key), own_values, strict=True)
        )


@dataclass(frozen=True)
class Cause:
    """Broken joins of one diagnosis; for `other-environment`, only those whose id one environment knows.

    oldest, last_reported_at: the times of their earliest first report and of their latest report.
    reporters: the number of these joins that each API key reported first.
    conversation_ids: how many ids these joins name.
    may_heal: how many are as young as some that healed; None if that was not counted.
    ids_that_may_heal, older_ids: how many ids are named by the joins that may heal, and how many by the older joins. An
        id can be in both.
    """

    kind: str
    environment: str
    count: int
    examples: Sequence[BrokenJoin]
    oldest: datetime
    last_reported_at: datetime
    reporters: Counter[int | None]
    conversation_ids: int
    may_heal: int | None = None
    ids_that_may_heal: int = 0
    older_ids: int = 0

    @property
    def example(self) -> BrokenJoin:
        return self.examples[0]

    @property
    def example_ids(self) -> Sequence[str]:
        """Return a few of the ids, without repetition."""
        return list(dict.fromkeys(join.conversation_id for join in self.examples))

    @property
    def further_named_ids(self) -> Sequence[str]:
        """Return the ids that the page names besides that of `example`."""
        return self.example_ids[1:NAMED_IDS]


def group_by_cause(joins: Iterable[BrokenJoin], *, may_heal_from: datetime | None = None) -> Sequence[Cause]:
    """Return the causes; their examples are the first joins of each.

    The diagnosis with most joins comes first; causes of one diagnosis follow each other, the most frequent first.

    may_heal_from: joins that were first reported earlier are older than any that healed; None if nothing has healed.
    """
    counts: Counter[tuple[str, str]] = Counter()
    young: Counter[tuple[str, str]] = Counter()
    young_ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    older_ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    examples: dict[tuple[str, str], list[BrokenJoin]] = {}
    oldest: dict[tuple[str, str], datetime] = {}
    latest: dict[tuple[str, str], datetime] = {}
    reporters: defaultdict[tuple[str, str], Counter[int | None]] = defaultdict(Counter)
    for join in joins:
        cause = join.diagnosis.kind, join.diagnosis.found_in
        counts[cause] += 1
        is_young = may_heal_from is not None and join.first_reported_at >= may_heal_from
        young[cause] += is_young
        (young_ids if is_young else older_ids)[cause].add(join.conversation_id)
        reporters[cause][join.reported_by] += 1
        oldest[cause] = min(oldest.get(cause, join.first_reported_at), join.first_reported_at)
        latest[cause] = max(latest.get(cause, join.last_reported_at), join.last_reported_at)
        if len(first_joins := examples.setdefault(cause, [])) < MAX_EXAMPLES:
            first_joins.append(join)
    totals: Counter[str] = Counter()
    for (kind, _), count in counts.items():
        totals[kind] += count
    causes = sorted(counts, key=lambda cause: (-totals[cause[0]], cause[0], -counts[cause], cause))
    return [
        Cause(
            *cause,
            counts[cause],
            examples[cause],
            oldest[cause],
            latest[cause],
            reporters[cause],
            len(young_ids[cause] | older_ids[cause]),
            None if may_heal_from is None else young[cause],
            len(young_ids[cause]),
            len(older_ids[cause]),
        )
        for cause in causes
    ]
