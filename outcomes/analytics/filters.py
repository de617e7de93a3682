"""The filters of the outcomes page, parsed from its address (pure). Invalid values are replaced by defaults."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from outcomes.analytics.chart_data import MAX_LEADING_KEYS
from outcomes.analytics.funnel import MAX_STEPS
from wire.address_members import read_text, read_texts
from wire.charts.series_colours import MAX_SERIES

EVERY_KEY = "all"  # `keys=all` in the address
MAX_SELECTED_KEYS = MAX_SERIES
MAX_RANK = 100
RANKS = frozenset(map(str, range(1, MAX_RANK + 1)))


@dataclass(frozen=True)
class KeyFilters:
    """The filters of the outcomes page.

    search: a text that the keys of the table contain.
    selected_keys: the keys of the chart; if it is empty, the keys from `rank` on.
    shows_all_keys: whether all keys have rows of their own.
    compare_with: the name of another environment, or "none"; empty for the previous period.
    steps: the keys of the funnel.
    lost_step_number: the step of the funnel whose lost conversations are listed. 1 means no list.
    """

    search: str = ""
    selected_keys: tuple[str, ...] = ()
    rank: int = 1
    shows_all_keys: bool = False
    page: int = 1
    compare_with: str = ""
    steps: tuple[str, ...] = ()
    lost_step_number: int = 1

    @property
    def next_rank(self) -> int:
        return self.rank + MAX_LEADING_KEYS


def parse_key_filters(query: QueryDict) -> KeyFilters:
    page, search = _parse_number(query.get("page")), read_text(query, "q")
    return KeyFilters(
        search=search,
        selected_keys=tuple(read_texts(query, "show")[:MAX_SELECTED_KEYS]),
        rank=min(_parse_number(query.get("rank")), MAX_RANK),
        shows_all_keys=page > 1 or bool(search) or query.get("keys") == EVERY_KEY,
        page=page,
        compare_with=read_text(query, "compare"),
        steps=tuple(read_texts(query, "step")[:MAX_STEPS]),
        lost_step_number=_parse_number(query.get("lost")),
    )


def _parse_number(text: str | None) -> int:
    """Return the number in the text, at least 1; 1 also if the text is not a number of at most eight digits."""
    is_number = text is not None and text.isdecimal() and text.isascii() and len(text) < 9
    return max(int(text or 1), 1) if is_number else 1
