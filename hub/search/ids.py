"""Search for what is found by its id: conversations, tool calls, users and delivered reports."""

from __future__ import annotations

from catalog.models import WitnessReportId
from hub.search.results import MAX_RESULTS, ResultGroup, SearchResult, mark_prefix
from intents.models import VerificationReport
from intents.tool_calls.call_queries import find_tool_call
from intents.tool_calls.queries import has_intents
from outcomes.conversations.search import find_conversations, find_reported, list_knowing_environments
from wire.address_members import parse_uuid
from workspaces.models import Environment


def search_conversations(environment: Environment, text: str) -> ResultGroup:
    """Find conversations by the beginning of their id. An unknown id also leads to the environments that know it."""
    rows = find_conversations(environment, text, limit=MAX_RESULTS + 1)
    is_known = {row.conversation_id: row.started_at is not None for row in rows[:MAX_RESULTS]}
    unknown_ids = [found_id for found_id in dict.fromkeys([*is_known, text]) if not is_known.get(found_id)]
    elsewhere = list_knowing_environments(environment, unknown_ids) if unknown_ids else {}
    labels = {row.name: str(row) for row in environment.readable} if elsewhere else {}
    moved_ids = elsewhere.keys() - find_reported(environment, elsewhere) if elsewhere else set()
    results: list[SearchResult] = []
    for found_id in dict.fromkeys([*is_known, *elsewhere]):
        title, members = mark_prefix(found_id, text), {"id": found_id}
        if found_id in is_known.keys() - moved_ids:
            tag = "" if is_known[found_id] else f"not known in {environment}"
            results.append(SearchResult("conversation", title, members, tag=tag))
        results += [
            SearchResult("conversation", title, members, tag=f"known in {labels[name]}", environment=name)
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
    report_id = parse_uuid(text)
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


def _describe_receipt(report: WitnessReportId | VerificationReport) -> str:
    return f"received {report.received_at:%-d %b %Y, %H:%M} UTC"
