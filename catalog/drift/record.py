"""Record what a fold changed: a new version if the outline of an operation changed, and its drift."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from affidavit import describe
from affidavit.operations import SECONDS_PER_DAY, part_key
from catalog.change_kinds import NO_LONGER_SEEN, NOT_ALWAYS
from catalog.change_successor import describe_successor
from catalog.drift.compare_outlines import (
    PATH,
    Change,
    build_not_always,
    build_removal,
    compare_outlines,
    describe_descriptor,
)
from catalog.drift.fold_result import FoldResult
from catalog.drift.presence.absence_counters import AbsenceEvent
from catalog.drift.presence.enough_observations import ENOUGH
from catalog.evidence.outlines import Outline
from catalog.evidence.type_names import SEVERAL_TYPES
from catalog.models import Drift, Operation, OperationVersion

TYPE_KINDS = ("type", "nullable", "known")  # kinds of changes that can come with a new type


def build_drift(results: Sequence[FoldResult], *, now: datetime) -> list[Drift]:
    """Number the versions of these operations and return what changed.

    Call this before their rows are saved, because it reads the previous outlines from the database.
    """
    changed_row_ids = [result.row.pk for result in results if result.is_known and result.is_new_version]
    outlines = dict(Operation.objects.filter(pk__in=changed_row_ids).values_list("pk", "outline"))
    return [drift for result in results for drift in _number_version(result, outlines.get(result.row.pk), now=now)]


def build_version(result: FoldResult, *, now: datetime) -> OperationVersion:
    return OperationVersion(
        environment_id=result.row.environment_id,
        operation=result.row,
        number=result.row.version,
        at=now,
        since=_to_datetime(result.new_sum.first if result.is_known else result.total.first),
        observations=result.row.observations,
        outline=result.row.outline,
    )


def _number_version(result: FoldResult, previous_outline: str | None, *, now: datetime) -> list[Drift]:
    if result.is_new_version:
        result.row.version += 1
    drift = list(_list_drift(result, previous_outline, now=now)) if result.is_known else []
    if drift:
        result.row.drifted_at = now
    return drift


def _list_drift(result: FoldResult, previous_outline: str | None, *, now: datetime) -> Iterator[Drift]:
    if previous_outline:
        for change in _list_changes(result, json.loads(previous_outline), json.loads(result.row.outline)):
            seen, of = _count_seen(result, change)
            yield _build_drift(result, change, seen, of, since=_to_datetime(result.new_sum.first), now=now)
    for part, (_, events) in result.absences.items():
        for event in events:
            change = _describe_event(part_key(part), event)
            yield _build_drift(result, change, event.seen, event.of, since=_event_time(result, event), now=now)


def _list_changes(result: FoldResult, before: Outline, after: Outline) -> list[Change]:
    def was_always_there(part: str, pointer: str) -> bool:
        node = result.added_nodes.get((part, pointer))
        return node is not None and node.parents is not None and node.evidence.seen >= node.parents

    def was_often_null(part: str, pointer: str) -> bool:
        nodes = result.total_nodes.get((part, pointer)), result.added_nodes.get((part, pointer))
        total_nulls, new_nulls = (node.evidence.counts.get("null", 0) if node else 0 for node in nodes)
        return total_nulls - new_nulls >= ENOUGH

    changes = compare_outlines(before, after, is_always_there=was_always_there, was_usually_null=was_often_null)
    return [change for change in changes if not result.is_first(change)]


def _count_seen(result: FoldResult, change: Change) -> tuple[int, int | None]:
    """Return how often the changed node was present in the added observations, and how often it could have been."""
    if change.part == PATH:
        return result.new_sum.observations, result.new_sum.observations
    if node := result.added_nodes.get((change.part, change.pointer)):
        return node.evidence.seen, node.parents
    # The status has no body, or the node has no new values: only a limit or a new name beside it changed it.
    return result.new_sum.statuses.get(int(change.part), 0) if change.part.isdigit() else 0, None


def _event_time(result: FoldResult, event: AbsenceEvent) -> datetime:
    """Return when the added observations began.

    For a property that is no longer seen, return the last day on which it was seen; for one that was absent before it
    came back as optional, when the first observations without it began.
    """
    if event.kind == NO_LONGER_SEEN and event.evidence.last is not None:
        return _to_datetime(event.evidence.last * SECONDS_PER_DAY)
    return _to_datetime(event.began_at or result.new_sum.first)


def _describe_event(part: str, event: AbsenceEvent) -> Change:
    shape = describe(event.evidence)
    if event.kind == NO_LONGER_SEEN:
        change = build_removal(part, event.pointer, shape, NO_LONGER_SEEN)
        return replace(change, after=describe_successor(event.successor)) if event.successor else change
    if event.kind == NOT_ALWAYS:
        before, after = f"in each of {event.always:,}", f"in {event.seen:,} of {event.of:,}"
        return build_not_always(part, event.pointer, before, after)
    return Change(part, event.pointer, event.kind, "", describe_descriptor(shape))


def _build_drift(
    result: FoldResult, change: Change, seen: int, of: int | None, *, since: datetime, now: datetime
) -> Drift:
    return Drift(
        environment_id=result.row.environment_id,
        operation=result.row,
        version=result.row.version,
        at=now,
        since=since,
        part=change.part,
        pointer=change.pointer,
        kind=change.kind,
        before=change.before,
        after=_name_types(result, change),
        breaks=change.breaks,
        seen=seen,
        of=of,
        **_count_values(result, change),
    )


def _count_values(result: FoldResult, change: Change) -> dict[str, int]:
    """Return `matching` and `values_before` of a change to a type that was not seen before; {} for other changes."""
    total_node, new_node = (
        nodes.get((change.part, change.pointer)) for nodes in (result.total_nodes, result.added_nodes)
    )
    if change.kind not in TYPE_KINDS or total_node is None or new_node is None:
        return {}
    counts = new_node.evidence.counts
    counts_before = {name: count - counts.get(name, 0) for name, count in total_node.evidence.counts.items()}
    new_types = [name for name, count in counts.items() if count and not counts_before.get(name)]
    values_before = sum(counts_before.values())
    if not (new_types and values_before):
        return {}
    return {"matching": sum(counts[name] for name in new_types), "values_before": values_before}


def _name_types(result: FoldResult, change: Change) -> str:
    """Return the type after the change. Name mixed types by the evidence, because outlines do not list them."""
    node = result.total_nodes.get((change.part, change.pointer)) if SEVERAL_TYPES in change.after else None
    return describe_descriptor(describe(node.evidence)) if node else change.after


def _to_datetime(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
