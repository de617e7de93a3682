"""The filters of the broken joins page, parsed from its address (pure); a page never fails over its address."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from outcomes.broken_joins.diagnose import ADVICE
from wire.filters import read_text


@dataclass(frozen=True)
class JoinFilters:
    """why: a diagnosis; found_in: the environment that knows the id, for `other-environment`. Empty: all."""

    why: str = ""
    found_in: str = ""

    def __bool__(self) -> bool:
        return bool(self.why)


def parse_join_filters(query: QueryDict) -> JoinFilters:
    why = query.get("why", "")
    if why not in ADVICE or why == "late":
        return JoinFilters()
    return JoinFilters(why, read_text(query, "in") if why == "other-environment" else "")
