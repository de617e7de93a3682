"""What the outcomes page found: each part read once, and only when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from outcomes.analytics import compare
from outcomes.analytics.filters import KeyFilters
from outcomes.tallies import keys, series, top_keys
from outcomes.tallies.keys import KeyLine, KeyPage
from outcomes.tallies.series import Chart, Totals
from wire.period import Period
from workspaces.models import Environment

ROWS_A_PAGE = 50
FOLDED_FROM = 20  # rows before the tail is folded into one
PAIRS_SHOWN = 10
ALIKE_AT_ONCE = 500


@dataclass
class Analytics:
    """The outcomes of one environment in one range, as the filters ask for them."""

    environment: Environment
    period: Period
    asked: KeyFilters

    @cached_property
    def totals(self) -> Totals:
        return series.totals(self.environment, self.period)

    @cached_property
    def before(self) -> Totals:
        return series.totals(self.environment, self.period.previous())

    @cached_property
    def keys(self) -> KeyPage:
        """The page that was asked for, or the last one."""
        found = self.keys_from((self.asked.page - 1) * ROWS_A_PAGE)
        if found.lines or not found.everything.keys:
            return found
        return self.keys_from((found.everything.keys - 1) // ROWS_A_PAGE * ROWS_A_PAGE)

    def keys_from(self, start: int) -> KeyPage:
        lead = 0 if self.asked.chosen else self.asked.next_rank - 1
        limit = ROWS_A_PAGE if self.asked.opened else FOLDED_FROM + 2
        return top_keys.page(
            self.environment, self.period, search=self.asked.search, start=start, limit=limit, lead=lead
        )

    @property
    def folded(self) -> bool:
        return not self.asked.opened and self.keys.everything.keys > FOLDED_FROM + 1

    @property
    def lines(self) -> Sequence[KeyLine]:
        """The rows of the table, without the folded tail."""
        return self.keys.lines[:FOLDED_FROM] if self.folded else self.keys.lines

    @property
    def others(self) -> KeyLine | None:
        """The folded tail as one row."""
        return self.keys.others(self.lines) if self.folded else None

    @cached_property
    def alike(self) -> Mapping[str, Sequence[KeyLine]]:
        """For each shown key those that look like it, with their numbers in the range."""
        names = keys.alike(self.environment, [line.key for line in self.lines])
        wanted = {name for others in names.values() for name in others}
        found = keys.named(self.environment, self.period, sorted(wanted)) if wanted else {}
        return {key: [found[name] for name in others] for key, others in names.items()}

    @cached_property
    def chart(self) -> Chart:
        if self.asked.chosen:
            return series.chart(self.environment, self.period, self.asked.chosen)
        ranked = [line.key for line in self.keys.leading]
        first = self.asked.rank - 1
        return series.chart(self.environment, self.period, ranked[first:], over=ranked[:first])

    @cached_property
    def sibling(self) -> Environment | None:
        return compare.sibling(self.environment, self.asked.beside)

    @cached_property
    def both(self) -> compare.Both | None:
        return compare.both(self.environment, self.sibling, self.period) if self.sibling else None

    def every_key(self) -> Iterator[tuple[KeyLine, Sequence[str]]]:
        """All keys that the search lets through, each with those that look like it."""
        lines = keys.every(self.environment, self.period, search=self.asked.search)
        while batch := list(islice(lines, ALIKE_AT_ONCE)):
            alike = keys.alike(self.environment, [line.key for line in batch])
            yield from ((line, alike.get(line.key, ())) for line in batch)

    def pairs(self) -> Iterator[compare.PairLine]:
        """The keys of both environments, where two stand side by side."""
        if self.sibling:
            yield from compare.pairs(self.environment, self.sibling, self.period, search=self.asked.search)

    def leading_pairs(self, limit: int) -> Sequence[compare.PairLine]:
        """The first of them."""
        if not self.sibling:
            return ()
        return compare.leading(self.environment, self.sibling, self.period, limit, search=self.asked.search)
