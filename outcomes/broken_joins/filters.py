"""The filters of the broken joins page, parsed from its address (pure); a page never fails over its address."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from outcomes.broken_joins.diagnose import ADVICE
from wire.filters import read_text

DIAGNOSES = frozenset(ADVICE) - {"late"}  # a late conversation heals its broken joins


@dataclass(frozen=True)
class JoinFilters:
    """The filters of broken joins; "" selects all.

    found_in: for `other-environment`, the environment that knows the id.
    key: the exact outcomeKey.
    """

    diagnosis: str = ""
    found_in: str = ""
    key: str = ""

    def __bool__(self) -> bool:
        return bool(self.diagnosis or self.key)


def parse_join_filters(query: QueryDict) -> JoinFilters:
    diagnosis, key = query.get("why", ""), read_text(query, "key")
    if diagnosis not in DIAGNOSES:
        return JoinFilters(key=key)
    return JoinFilters(diagnosis, read_text(query, "in") if diagnosis == "other-environment" else "", key)
