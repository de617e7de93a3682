"""The template under which a reported operation is stored."""

from __future__ import annotations

from affidavit import retemplate
from intents.models import MAX_OPERATION


def template_operation(operation: str) -> str:
    """Turn `GET /orders/17?page=2` into `GET /orders/{orderId}`: segments that look like data become parameters.

    A query holds values and is left out. Operations of other transports are treated the same, by segments.
    """
    method, space, target = operation.partition(" ")
    if not space or not target.startswith("/"):
        method, space, target = "", "", operation
    path = target.partition("?")[0].partition("#")[0]
    return _shorten(f"{method}{space}{_template_path(path)}")


def _template_path(path: str) -> str:
    if path.startswith("/"):
        return retemplate(path, {}).path
    return retemplate(f"/{path}", {}).path.removeprefix("/")


def _shorten(operation: str) -> str:
    """Cut a template that is too long, with an ellipsis: parameter names can be longer than what they replace."""
    return operation if len(operation) <= MAX_OPERATION else operation[: MAX_OPERATION - 1] + "…"
