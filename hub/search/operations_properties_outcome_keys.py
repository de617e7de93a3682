"""Search for operations, properties and outcome keys, by any part of their names."""

from __future__ import annotations

from catalog.browse.search import MatchingProperty, find_operations, find_properties
from catalog.drift.queries import Location, find_absent_locations
from hub.search.results import MAX_RESULTS, ResultGroup, SearchResult, mark_matches
from outcomes.tallies.key_search import find_matching_keys
from workspaces.models import Environment


def search_operations(environment: Environment, text: str) -> ResultGroup:
    rows = find_operations(environment, text, limit=MAX_RESULTS + 1)
    results = [
        SearchResult(
            "operation",
            _mark_path(row.path, text),
            {"method": row.method, "path": row.path},
            detail=f"{row.observations:,} observation{'' if row.observations == 1 else 's'} in all",
            method=row.method,
        )
        for row in rows[:MAX_RESULTS]
    ]
    return ResultGroup("Operations", results, len(rows) > MAX_RESULTS, "catalog", {"q": text.rpartition(" ")[2]})


def _mark_path(path: str, text: str) -> list[tuple[str, bool]]:
    """Mark the text in a path. If the text begins with a method, mark only what follows."""
    needle = text if text.lower() in path.lower() else text.partition(" ")[2].strip()
    return mark_matches(path, needle)


def search_properties(environment: Environment, text: str) -> ResultGroup:
    rows = find_properties(environment, text, limit=MAX_RESULTS + 1)
    absent = find_absent_locations(environment, [(row.operation.pk, row.node.part, row.node.pointer) for row in rows])
    results = [
        SearchResult(
            "property",
            mark_matches(row.node.pointer, text),
            {
                "method": row.operation.method,
                "path": row.operation.path,
                "part": row.node.part,
                "at": row.node.pointer,
            },
            detail=row.node.part,
            method=row.operation.method,
            path=row.operation.path,
            type=row.node.full_type,
            tag=_describe_state(row, absent),
        )
        for row in rows[:MAX_RESULTS]
    ]
    return ResultGroup("Properties", results, len(rows) > MAX_RESULTS, "catalog", {"q": text.rpartition("/")[2]})


def _describe_state(row: MatchingProperty, absent: set[Location]) -> str:
    if (row.operation.pk, row.node.part, row.node.pointer) in absent:
        return "no longer seen"
    return "redacted" if row.node.is_redacted else ""


def search_outcome_keys(environment: Environment, text: str) -> ResultGroup:
    keys = find_matching_keys(environment, text, limit=MAX_RESULTS + 1)
    results = [SearchResult("outcome", mark_matches(key, text), {"key": key}) for key in sorted(keys[:MAX_RESULTS])]
    return ResultGroup("Outcome keys", results, len(keys) > MAX_RESULTS, "outcomes", {"q": text})
