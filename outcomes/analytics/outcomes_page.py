"""The data of the outcomes page. Each part is read once, and only if it is needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from outcomes.alike_keys import find_lookalikes
from outcomes.analytics.chart_data import Chart, read_chart
from outcomes.analytics.comparison_choice import ComparedShare, choose_comparison, read_compared_reached
from outcomes.analytics.filters import KeyFilters
from outcomes.analytics.funnel import MAX_LOST, Funnel, FunnelStep, LostConversation, read_funnel, read_lost
from outcomes.models import ALL_KEYS
from outcomes.tallies.comparison import PREVIOUS, Comparison
from outcomes.tallies.keys import KeyPage, KeyTotals, read_keys, stream_keys
from outcomes.tallies.moved_counts import NOTHING_MOVED, MovedCounts, count_moved
from outcomes.tallies.series import Totals, read_totals
from outcomes.tallies.top_keys import read_top_page
from outcomes.tallies.without_moves import CountWithoutMoves, leave_out_moved_here
from wire.batches import split_into_batches
from wire.time.period import Period
from workspaces.models import Environment

ROWS_PER_PAGE = 50  # keys
UNFOLDED_KEYS = 20  # rows before the tail is folded into one
KEYS_AT_ONCE = 500


@dataclass
class Analytics:
    """The outcomes of one environment in one period, as the filters select them.

    The search narrows the table of keys alone: totals, chart and funnel are of all keys.
    """

    environment: Environment
    period: Period
    filters: KeyFilters

    @cached_property
    def totals(self) -> Totals:
        return read_totals(self.environment, self.period)

    @cached_property
    def comparison(self) -> Comparison:
        return choose_comparison(self.environment, self.period, self.filters.compare_with)

    @cached_property
    def compared_totals(self) -> Totals:
        return read_totals(self.comparison.environment, self.comparison.period)

    @cached_property
    def moved(self) -> tuple[MovedCounts, MovedCounts]:
        """Return what moves changed in the period, and in the previous period if the page compares with that.

        A move takes broken joins to the environment that knows their conversations.
        """
        return count_moved_in_both(self.environment, self.period, self.comparison)

    @property
    def outcomes_without_moves(self) -> CountWithoutMoves | None:
        return leave_out_moved_here((self.totals.outcomes, self.compared_totals.outcomes), self.moved)

    def leave_out_moves(self, row: KeyTotals) -> CountWithoutMoves | None:
        """Return the outcomes of a row (a key or the folded tail) without moves; None if no move changed them."""
        return leave_out_moved_here((row.outcomes, row.compared_outcomes), self.moved, self._list_moved_keys(row))

    def _list_moved_keys(self, row: KeyTotals) -> Collection[str]:
        if row.key != ALL_KEYS:
            return [row.key]
        moved_keys = {key for moves in self.moved for key in (*moves.added_by_key, *moves.gained_by_key)}
        return moved_keys - {row.key for row in self.rows}

    @cached_property
    def key_page(self) -> KeyPage:
        """Return the page of the filters, or the last page if there are fewer pages."""
        search = self.filters.search
        page = self._read_keys((self.filters.page - 1) * ROWS_PER_PAGE, search)
        if page.rows or not page.total.keys:
            return page
        return self._read_keys((page.total.keys - 1) // ROWS_PER_PAGE * ROWS_PER_PAGE, search)

    @cached_property
    def top_page(self) -> KeyPage:
        """Return the first page of all keys, whatever the search; without a search, the page of the filters."""
        return self._read_keys(0, search="") if self.filters.search else self.key_page

    def _read_keys(self, start: int, search: str) -> KeyPage:
        lead = 0 if self.filters.selected_keys else self.filters.next_rank - 1
        limit = ROWS_PER_PAGE if self.filters.shows_all_keys else UNFOLDED_KEYS + 2
        return read_top_page(
            self.environment,
            self.period,
            search=search,
            start=start,
            limit=limit,
            lead=lead,
            comparison=self.comparison,
        )

    @property
    def is_folded(self) -> bool:
        return not self.filters.shows_all_keys and self.key_page.total.keys > UNFOLDED_KEYS + 1

    @property
    def rows(self) -> Sequence[KeyTotals]:
        """Return the rows of the table, without the folded tail."""
        return self.key_page.rows[:UNFOLDED_KEYS] if self.is_folded else self.key_page.rows

    @property
    def folded_tail(self) -> KeyTotals | None:
        """Return the keys that have no row of their own, as one row; None if all have one."""
        return self.key_page.sum_rest(self.rows) if self.is_folded else None

    @cached_property
    def lookalikes(self) -> Mapping[str, Sequence[KeyTotals]]:
        """Return the keys that look like the key of a row, by that key, with their totals in the period."""
        names = find_lookalikes(self.environment, [row.key for row in self.rows])
        distinct = sorted({name for names_of_key in names.values() for name in names_of_key})
        totals = read_keys(self.environment, self.period, distinct) if distinct else {}
        return {key: [totals[name] for name in names_of_key] for key, names_of_key in names.items()}

    def list_compared_shares(self, rows: Sequence[KeyTotals]) -> Sequence[ComparedShare | None]:
        """Return each row's share and the other environment's; None if no other environment is compared."""
        reached_by_key = read_compared_reached(self.comparison, [row.key for row in rows])
        conversations = self.totals.conversations, self.compared_totals.conversations
        return [
            ComparedShare(row.reached, conversations[0], reached_by_key[row.key], conversations[1])
            if reached_by_key
            else None
            for row in rows
        ]

    @cached_property
    def chart(self) -> Chart:
        comparison, selected_keys = self.comparison, self.filters.selected_keys
        if selected_keys:
            return read_chart(self.environment, self.period, selected_keys, comparison=comparison)
        keys = [row.key for row in self.top_page.leading]
        first = self.filters.rank - 1
        return read_chart(self.environment, self.period, keys[first:], without=keys[:first], comparison=comparison)

    @cached_property
    def funnel(self) -> Funnel | None:
        return read_funnel(self.environment, self.period, self.filters.steps)

    @property
    def lost_step(self) -> FunnelStep | None:
        """Return the step of the funnel whose lost conversations are listed; None for no list."""
        number = self.filters.lost_step_number
        return self.funnel.steps[number - 1] if self.funnel and 1 < number <= len(self.funnel.steps) else None

    def list_lost(self, limit: int | None = MAX_LOST) -> Sequence[LostConversation]:
        return read_lost(self.environment, self.period, self.filters.steps, self.filters.lost_step_number, limit)

    def stream_keys(self) -> Iterator[tuple[KeyTotals, Sequence[str], ComparedShare | None]]:
        """Yield all keys that match the search, each with the keys that look like it and its compared share."""
        search = self.filters.search
        rows = stream_keys(self.environment, self.period, search=search, comparison=self.comparison)
        for batch in split_into_batches(rows, KEYS_AT_ONCE):
            lookalikes = find_lookalikes(self.environment, [row.key for row in batch])
            shares = self.list_compared_shares(batch)
            yield from ((row, lookalikes.get(row.key, ()), share) for row, share in zip(batch, shares, strict=True))


def count_moved_in_both(
    environment: Environment, period: Period, comparison: Comparison
) -> tuple[MovedCounts, MovedCounts]:
    """Return what moves changed in a period, and in the previous period if the comparison is with that."""
    previous = count_moved(environment, comparison.period) if comparison.kind == PREVIOUS else NOTHING_MOVED
    return count_moved(environment, period), previous
