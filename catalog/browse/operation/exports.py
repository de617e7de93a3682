"""The tables of an operation's page as they are downloaded: all rows, columns named as in contract §5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from catalog.browse.operation.presence_counts import list_presence
from catalog.browse.operation.tree_search import find_nodes
from catalog.evidence.nodes import Node
from catalog.evidence.observed_days import ObservedDays
from catalog.evidence.parts import PartShape, list_part_nodes
from catalog.models import Operation
from wire.table_exports import Table

RESPONSE_COLUMNS = ("status", "observations", "mediaTypes")
PROPERTY_COLUMNS = (
    "part", "status", "pointer", "type", "reason", "seen", "parents", "presence", "nulls", "types",
    "redacted", "firstDay", "lastDay", "seenInPeriod", "parentsInPeriod",
)  # fmt: skip


def export_responses(operation: Operation) -> Table:
    return Table("responses", RESPONSE_COLUMNS, lambda: _response_rows(operation))


def _response_rows(operation: Operation) -> Iterator[Sequence[Any]]:
    for status, count in operation.status_counts:
        yield status, count, dict(operation.count_media_types(str(status)))


def export_properties(shapes: Sequence[PartShape], observed_days: ObservedDays | None, words: Sequence[str]) -> Table:
    """Return all nodes of all parts, or only those that the words find. The page may show fewer of them.

    observed_days: the days of the period; None for all time.
    """
    return Table("properties", PROPERTY_COLUMNS, partial(_property_rows, shapes, observed_days, words))


def _property_rows(
    shapes: Sequence[PartShape], observed_days: ObservedDays | None, words: Sequence[str]
) -> Iterator[Sequence[Any]]:
    for shape in shapes:
        nodes = list(list_part_nodes(shape))
        presence = list_presence(nodes, observed_days.build_part(shape) if observed_days else None)
        pointers = find_nodes(nodes, words).pointers if words else presence.keys()
        for node in nodes:
            if node.pointer not in pointers:
                continue
            in_period = presence[node.pointer]
            cells = (shape.part.name, shape.part.status, *_node_cells(node))
            yield (*cells, in_period.seen, in_period.parents)


def _node_cells(node: Node) -> Sequence[Any]:
    first_day, last_day = (day.isoformat() if day else None for day in (node.first_day, node.last_day))
    return (
        node.pointer, node.type, node.reason, node.seen, node.parents, node.presence, node.nulls, node.types,
        node.redacted, first_day, last_day,
    )  # fmt: skip
