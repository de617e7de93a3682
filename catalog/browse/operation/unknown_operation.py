"""What the page of an operation says if the environment does not have the operation."""

from __future__ import annotations

from catalog.operation_queries import list_environments_with
from workspaces.models import Environment
from workspaces.pages.not_found_here import NotFoundHere


def explain_unknown_operation(environment: Environment, method: str, path: str, *, as_reported: bool) -> NotFoundHere:
    """Return the error that names the environments that have the operation.

    as_reported: whether the operation itself is meant, even if it is shown under another.
    """
    return NotFoundHere(
        "This environment has no such operation.",
        list_environments_with(environment, method, path, as_reported=as_reported),
        "Look for it in the catalog, or report an observation of it.",
    )
