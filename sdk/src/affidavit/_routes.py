"""An operation as it is reported: by the framework's own route, else by a template, never a raw path."""

import re
from functools import lru_cache

from ._templates import retemplate

MAX_LENGTH = 255
"""Code points that the hub takes."""
MAX_SEGMENTS = 32

_CONVERTER = re.compile(r"<(?:[^<>:]*:)?([A-Za-z_]\w*)>|\{([A-Za-z_]\w*)(?::[^{}]*)?\}")
_REGULAR_EXPRESSION = re.compile(r"[\^$()\\|*+?\[\]]")
_UNSENDABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@lru_cache(maxsize=1024)
def route_path(rule: str) -> str | None:
    """The path template of a framework's route; None for a regular expression, which has none.

    `/orders/<int:pk>` of Django and Flask, `/orders/{pk:int}` of Starlette -> `/orders/{pk}`.
    """
    path = _CONVERTER.sub(lambda parameter: f"{{{parameter[1] or parameter[2]}}}", rule)
    return None if _REGULAR_EXPRESSION.search(path) or "<" in path else path


def reported_operation(method: str, path: str) -> str:
    """`METHOD template` of a path, raw or a template already; short and clean enough to be sent."""
    return _templated(method[:32], _bounded(path))


@lru_cache(maxsize=1024)
def _templated(method: str, path: str) -> str:
    return sendable(f"{method} {retemplate(path, {}).path}")


def _bounded(path: str) -> str:
    """A path of a few whole segments: anybody can send a long one, and templating takes time."""
    if len(path) <= MAX_LENGTH and path.count("/") <= MAX_SEGMENTS:
        return path
    whole = path[: MAX_LENGTH + 1].split("/")[:-1] if len(path) > MAX_LENGTH else path.split("/")
    return "/".join([*whole[: MAX_SEGMENTS + 1], "…"])


def sendable(operation: str) -> str:
    """An operation that the hub takes, whatever a stranger put into its request line."""
    clean = _UNSENDABLE.sub("\ufffd", operation)
    return clean if len(clean) <= MAX_LENGTH else clean[: MAX_LENGTH - 1] + "…"
