"""Search each kind of thing by a separate query: names by any part, ids by prefix or exactly.

Each query reads one environment or workspace by an index that begins with it, and is bounded. The search text is never
stored.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User

from catalog.browse.search import MatchingProperty, find_operations, find_properties
from catalog.drift.queries import Place, find_absent
from catalog.models import WitnessReportId
from hub.glossary.terms import read_terms
from hub.search.keys_reasons_annotations import search_annotations, search_keys, search_reasons
from hub.search.pages import search_pages
from hub.search.results import MAX_RESULTS, ResultGroup, SearchResult, mark_matches, mark_prefix
from intents.models import VerificationReport
from intents.tool_calls.list_queries import has_intents
from intents.tool_calls.queries import find_tool_call
from outcomes.conversations.search import find_conversations, find_reported, list_knowing_environments
from outcomes.tallies.keys import find_matching_keys
from workspaces.models import Environment

MAX_TEXT = 255  # characters: the longest id
LEAST_OF_TERM = 4  # characters: shorter texts are in too many words


def search_everything(environment: Environment, text: str, user: User | AnonymousUser) -> list[ResultGroup]:
    """Return the results by kind, the most specific kind first: ids, then names, then pages."""
    sources: tuple[Callable[[Environment, str], ResultGroup], ...] = (
        search_conversations,
        search_tool_calls,
        search_users,
        search_reports,
        search_operations,
        search_properties,
        search_outcome_keys,
    )
    groups = [
        *(source(environment, text) for source in sources),
        search_reasons(text),
        search_keys(environment, text, user),
        search_annotations(environment, text),
        search_terms(text),
        search_pages(environment, text, user),
    ]
    return [group for group in groups if group.results]


def list_examples(environment: Environment) -> list[ResultGroup]:
    """Return the first operations and outcome keys, for a reader who has typed nothing yet."""
    groups = (search_operations(environment, ""), search_outcome_keys(environment, ""))
    return [group for group in groups if group.results]


def search_conversations(environment: Environment, text: str) -> ResultGroup:
    """Find conversations by the beginning of their id. An unknown id also leads to the environments that know it."""
    rows = find_conversations(environment, text, limit=MAX_RESULTS + 1)
    known = {row.conversation_id: row.started_at is not None for row in rows[:MAX_RESULTS]}
    unknown_ids = [found_id for found_id in dict.fromkeys([*known, text]) if not known.get(found_id)]
    elsewhere = list_knowing_environments(environment, unknown_ids) if unknown_ids else {}
    moved_ids = elsewhere.keys() - find_reported(environment, elsewhere) if elsewhere else set()
    results: list[SearchResult] = []
    for found_id in dict.fromkeys([*known, *elsewhere]):
        title, members = mark_prefix(found_id, text), {"id": found_id}
        if found_id in known.keys() - moved_ids:
            tag = "" if known[found_id] else f"not known in {environment.name}"
            results.append(SearchResult("conversation", title, members, tag=tag))
        results += [
            SearchResult("conversation", title, members, tag=f"known in {name}", environment=name)
            for name in elsewhere.get(found_id, ())
        ]
    return ResultGroup("Conversations", results, len(rows) > MAX_RESULTS)


def search_tool_calls(environment: Environment, text: str) -> ResultGroup:
    results = (
        [SearchResult("toolcall", [(text, True)], {"id": text})] if find_tool_call(environment, text).exists else []
    )
    return ResultGroup("Tool calls", results)


def search_users(environment: Environment, text: str) -> ResultGroup:
    """Find an end user, the `sub` of intents, exactly. It leads to all their tool calls, whatever the period."""
    results = (
        [SearchResult("toolcalls", [(text, True)], {"user": text, "range": "all"}, detail="tool calls of this user")]
        if has_intents(environment, text)
        else []
    )
    return ResultGroup("Users", results)


def search_reports(environment: Environment, text: str) -> ResultGroup:
    """Find a delivered report by its id, in all environments: an id is unique in the workspace."""
    report_id = _parse_uuid(text)
    if report_id is None:
        return ResultGroup("Reports", [])
    conditions = {"workspace": environment.workspace_id, "report_id": report_id}
    title = [(str(report_id), True)]
    results = []
    if witness_report := WitnessReportId.objects.filter(**conditions).first():
        results.append(SearchResult("catalog", title, detail=f"witness report, {_describe_receipt(witness_report)}"))
    if verification_report := VerificationReport.objects.filter(**conditions).first():
        results.append(
            SearchResult("rejections", title, detail=f"verification report, {_describe_receipt(verification_report)}")
        )
    return ResultGroup("Reports", results)


def search_properties(environment: Environment, text: str) -> ResultGroup:
    rows = find_properties(environment, text, limit=MAX_RESULTS + 1)
    absent = find_absent(environment, [(row.operation.pk, row.node.part, row.node.pointer) for row in rows])
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


def _describe_state(row: MatchingProperty, absent: set[Place]) -> str:
    if (row.operation.pk, row.node.part, row.node.pointer) in absent:
        return "no longer seen"
    return "redacted" if row.node.is_redacted else ""


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


def search_outcome_keys(environment: Environment, text: str) -> ResultGroup:
    keys = find_matching_keys(environment, text, limit=MAX_RESULTS + 1)
    results = [SearchResult("outcome", mark_matches(key, text), {"key": key}) for key in sorted(keys[:MAX_RESULTS])]
    return ResultGroup("Outcome keys", results, len(keys) > MAX_RESULTS, "outcomes", {"q": text})


def search_terms(text: str) -> ResultGroup:
    """Find the terms of the glossary that contain the text, and those that the text contains."""
    lowercase_text = text.lower()
    terms = [
        term
        for term in read_terms().values()
        if (len(lowercase_text) >= LEAST_OF_TERM and lowercase_text in term.name.lower())
        or (len(term.name) >= LEAST_OF_TERM and term.name.lower() in lowercase_text)
    ]
    results = [
        SearchResult("glossary", mark_matches(term.title, text), detail=term.meaning, fragment=term.id)
        for term in terms[:MAX_RESULTS]
    ]
    return ResultGroup("Glossary", results, len(terms) > MAX_RESULTS, "glossary")


def _mark_path(path: str, text: str) -> list[tuple[str, bool]]:
    """Mark the text in a path. If the text begins with a method, mark only what follows."""
    needle = text if text.lower() in path.lower() else text.partition(" ")[2].strip()
    return mark_matches(path, needle)


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _describe_receipt(report: WitnessReportId | VerificationReport) -> str:
    return f"received {report.received_at:%-d %b %Y, %H:%M} UTC"
