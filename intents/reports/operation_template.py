"""An operation as it is kept: a template, whatever was reported (pure)."""

from __future__ import annotations

from affidavit import retemplate

MAX_LENGTH = 255
CUT = "…"


def templated(operation: str) -> str:
    """`GET /orders/17?page=2` -> `GET /orders/{orderId}`: segments that look like data become parameters.

    A query holds values and is left out. Operations of other transports are treated the same, by segments.
    """
    method, space, target = operation.partition(" ")
    if not space or not target.startswith("/"):
        method, space, target = "", "", operation
    path = target.partition("?")[0].partition("#")[0]
    return fitted(f"{method}{space}{template_of(path)}")


def template_of(path: str) -> str:
    if path.startswith("/"):
        return retemplate(path, {}).path
    return retemplate(f"/{path}", {}).path.removeprefix("/")


def fitted(operation: str) -> str:
    """Parameter names can be longer than what they stand for; what does not fit is cut, and shows it."""
    return operation if len(operation) <= MAX_LENGTH else operation[: MAX_LENGTH - 1] + CUT
