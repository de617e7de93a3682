"""What the outcomes pages are asked to show, out of their addresses (pure); a page never fails over its address."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from outcomes.broken_joins.diagnose import ADVICE
from wire.filters import read_text, strip_nul

MAX_LINES = 8  # a chart has so many colours
LEADING = 5  # keys with a line of their own where none was chosen
RANKS = 100


@dataclass(frozen=True)
class KeyFilters:
    """search: text in a key; chosen: keys of the chart, else those from `rank` on; opened: no key is folded away."""

    search: str = ""
    chosen: tuple[str, ...] = ()
    rank: int = 1
    opened: bool = False
    page: int = 1
    beside: str = ""

    @property
    def next_rank(self) -> int:
        return self.rank + LEADING


def of_keys(query: QueryDict) -> KeyFilters:
    chosen = dict.fromkeys(key for key in map(strip_nul, query.getlist("show")) if key)
    page, search = number(query.get("page"), 1), read_text(query, "q")
    return KeyFilters(
        search=search,
        chosen=tuple(chosen)[:MAX_LINES],
        rank=min(number(query.get("rank"), 1), RANKS),
        opened=page > 1 or bool(search) or query.get("keys") == "all",
        page=page,
        beside=read_text(query, "beside"),
    )


@dataclass(frozen=True)
class JoinFilters:
    """why: a diagnosis; found_in: the environment that knows the id, for `other-environment`. Empty: all."""

    why: str = ""
    found_in: str = ""

    def __bool__(self) -> bool:
        return bool(self.why)


def of_joins(query: QueryDict) -> JoinFilters:
    why = query.get("why", "")
    if why not in ADVICE or why == "late":
        return JoinFilters()
    return JoinFilters(why, read_text(query, "in") if why == "other-environment" else "")


def number(text: str | None, default: int) -> int:
    usable = text is not None and text.isdecimal() and text.isascii() and len(text) < 9
    return max(int(text or default), 1) if usable else default
