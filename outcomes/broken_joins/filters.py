"""The filters of the broken joins page, parsed from its address (pure). No address makes the page fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from outcomes.broken_joins.causes.advice import ADVICE
from outcomes.broken_joins.causes.groups import BrokenJoin
from wire.address_members import read_text
from workspaces.models import ApiKey

DIAGNOSES = frozenset(ADVICE) - {"late"}  # a late conversation heals its broken joins

BY_LAST_REPORT = "last"
OTHER_ENVIRONMENT = "other-environment"  # the only diagnosis that `in` narrows


@dataclass(frozen=True)
class JoinFilters:
    """The filters of broken joins; "" selects all.

    found_in: for `other-environment`, the environment that knows the id.
    key: the exact outcomeKey.
    key_prefix: the first characters of the API key that reported. It narrows the list only.
    is_again: whether the list has joins that were first reported before the period and last in it, instead of those
        first reported in it.
    by_last_report: whether the list is sorted by the last reports instead of the first reports. This filters nothing.
    """

    diagnosis: str = ""
    found_in: str = ""
    key: str = ""
    key_prefix: str = ""
    is_again: bool = False
    by_last_report: bool = False

    def __bool__(self) -> bool:
        return bool(self.diagnosis or self.key or self.key_prefix or self.is_again)

    def select(self, join: BrokenJoin, api_keys: Mapping[int | None, ApiKey]) -> bool:
        """Return whether the list shows this join.

        api_keys: the keys of the workspace by row id.
        """
        reporter = api_keys.get(join.reported_by)
        is_of_key = not self.key_prefix or (reporter is not None and reporter.prefix == self.key_prefix)
        return is_of_key and join.matches(self.diagnosis, self.found_in, self.key)


def parse_join_filters(query: QueryDict) -> JoinFilters:
    diagnosis, found_in = query.get("why", ""), read_text(query, "in")
    key, key_prefix = read_text(query, "key"), read_text(query, "by")
    if diagnosis not in DIAGNOSES:
        diagnosis = OTHER_ENVIRONMENT if found_in else ""
    return JoinFilters(
        diagnosis,
        found_in if diagnosis == OTHER_ENVIRONMENT else "",
        key,
        key_prefix,
        is_again=query.get("again") == "1",
        by_last_report=query.get("sort") == BY_LAST_REPORT,
    )
