"""What the page of a property says if the operation does not have the property in this environment."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.browse.properties.history import list_property_drift
from catalog.evidence.parts import find_node
from catalog.models import Operation
from catalog.operation_queries import find_operation, list_environments_with
from workspaces.models import Environment
from workspaces.pages.not_found_here import NotFoundHere


def explain_unknown_property(environment: Environment, operation: Operation, part: str, pointer: str) -> NotFoundHere:
    """Return the error that names the environments in which the operation has the property, or had it."""
    return NotFoundHere(
        "This operation has no such property in this environment.",
        _list_environments_with(environment, operation, part, pointer),
        "Choose one in the shape on its page.",
    )


def _list_environments_with(
    environment: Environment, operation: Operation, part: str, pointer: str
) -> Iterator[Environment]:
    for sibling in list_environments_with(environment, operation.method, operation.path):
        same = find_operation(sibling, operation.method, operation.path)
        if same and (find_node(same, part, pointer)[1] or list_property_drift(same, part, pointer)):
            yield sibling
