"""Find operations and properties whose names contain a text, for the global search and the list of operations."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Collate, Length, Lower, Substr

from catalog.evidence.outline_nodes import OutlineNode, list_outline_nodes
from catalog.evidence.parts import find_node
from catalog.evidence.type_names import SEVERAL_TYPES
from catalog.models import Operation
from catalog.operation_queries import BY_PATH, visible_operations
from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment

CANDIDATES_AT_ONCE = ((0, 20), (20, 500))  # operations whose names are read: mostly the first ones are enough
LINES_OF_A_HIT = 4  # a property of several types has a line for each
MAX_HITS = 3  # properties that are shown with each operation that a search finds

# The first line of the text is the path. Names that equal a word come before those that only contain it.
SELECT_HITS = """
SELECT operation.id, hit.line
FROM catalog_operation AS operation
CROSS JOIN LATERAL (
  SELECT line FROM unnest(string_to_array(operation.search, chr(10))) WITH ORDINALITY AS text (line, number)
  WHERE number > 1 AND EXISTS (SELECT FROM unnest(%(words)s::text[]) AS word WHERE position(word IN lower(line)) > 0)
  ORDER BY lower(line) = ANY(%(words)s) OR split_part(lower(line), ':', 1) = ANY(%(words)s) DESC, number
  LIMIT %(limit)s
) AS hit
WHERE operation.environment_id = %(environment)s AND operation.id = ANY(%(operations)s)
"""


@dataclass(frozen=True)
class MatchingProperty:
    """A property with the operation that has it."""

    operation: Operation
    node: OutlineNode


def find_operations(environment: Environment, text: str, *, limit: int) -> list[Operation]:
    """Return the operations whose path contains the text, in upper or lower case, sorted by path.

    The text can also be a method and a part of the path: `get /orders`.
    """
    lowercase_text = text.lower()
    method, _, rest = lowercase_text.partition(" ")
    condition = Q(lowered_path__contains=lowercase_text)
    if rest.strip():
        condition |= Q(method=method.upper(), lowered_path__contains=rest.strip())
    rows = (
        visible_operations(environment)
        .alias(lowered_path=Lower(_of_ascii(F("path"), lowercase_text)))
        .filter(condition)
    )
    return list(rows.order_by(*BY_PATH).only("method", "path", "observations")[:limit])


def find_properties(environment: Environment, text: str, *, limit: int) -> list[MatchingProperty]:
    """Return properties whose name contains the text, in upper or lower case, sorted by path.

    A text with a slash is searched in pointers.
    """
    lowercase_text = text.lower()
    matches: list[MatchingProperty] = []
    for pk in _list_likely_operations(environment, lowercase_text.rpartition("/")[2]):
        operation = Operation.objects.only("method", "path", "outline").get(environment=environment, pk=pk)
        matches += (MatchingProperty(operation, node) for node in _find_matching_nodes(operation, lowercase_text))
        if len(matches) >= limit:
            break
    return [_with_type_names(match) for match in matches[:limit]]


def _with_type_names(match: MatchingProperty) -> MatchingProperty:
    """Return the match with the names of its types; an outline only says that there are several."""
    if SEVERAL_TYPES not in match.node.type:
        return match
    _, node = find_node(match.operation, match.node.part, match.node.pointer)
    return replace(match, node=match.node._replace(type=node.type)) if node else match


def find_property_hits(
    environment: Environment, operations: Sequence[int], words: Sequence[str]
) -> Mapping[int, Sequence[tuple[str, str]]]:
    """Return, by row id of these operations, the names and types of up to MAX_HITS properties with one of the words."""
    if not words or not operations:
        return {}
    types: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    query: dict[str, Any] = {
        "environment": environment.pk,
        "operations": list(operations),
        "words": list(words),
        "limit": MAX_HITS * LINES_OF_A_HIT,
    }
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_HITS, query)
        for operation, line in cursor.fetchall():
            name, _, type_name = line.rpartition(":")
            types[operation][name].append(type_name)
    return {
        operation: [(name, _join_types(of_name)) for name, of_name in list(names.items())[:MAX_HITS]]
        for operation, names in types.items()
    }


def _join_types(names: Sequence[str]) -> str:
    """Return `integer or string or null`.

    A mixed type has a line for `unknown`, which is left out, and a line for each type that was seen.
    """
    known_names = [name for name in names if name != "unknown"] or list(names)
    return " or ".join(sorted(known_names, key=lambda name: (name == "null", name)))


def _list_likely_operations(environment: Environment, name: str) -> Iterator[int]:
    """Yield the ids of operations that have a property with such a name, sorted by path.

    `search` has the path, then a line for each name with its type. Neither path nor types count here.
    """
    rows = _match_names(environment, name).values_list("pk", "search")
    for start, end in CANDIDATES_AT_ONCE if name else ():
        batch = list(rows[start:end])
        for pk, names in batch:
            if any(name in line.rpartition(":")[0].lower() for line in names.split("\n")[1:]):
                yield pk
        if len(batch) < end - start:
            return


def _match_names(environment: Environment, name: str) -> QuerySet[Operation]:
    """Return the operations whose `search` has this text after the path.

    The whole of `search` is compared first, because that is cheaper.
    """
    behind_path = Lower(_of_ascii(Substr("search", Length("path") + 1), name))
    rows = visible_operations(environment).alias(lowered=Lower(_of_ascii(F("search"), name)), behind_path=behind_path)
    return rows.filter(Q(lowered__contains=name), Q(behind_path__contains=name)).order_by(*BY_PATH)


def _of_ascii(text: F | Substr, name: str) -> F | Substr | Collate:
    """Let PostgreSQL lower the text by the rules of ASCII, which is ten times faster, if the name is ASCII."""
    return Collate(text, "C") if name.isascii() else text


def _find_matching_nodes(operation: Operation, lowercase_text: str) -> Iterator[OutlineNode]:
    for node in list_outline_nodes(json.loads(operation.outline)):
        if lowercase_text in (node.pointer if "/" in lowercase_text else node.name).lower():
            yield node
