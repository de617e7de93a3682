"""The names of operations in reports: never a raw path, and nothing that the hub refuses (contract §3)."""

import re
from functools import lru_cache

from .templates import retemplate

MAX_OPERATION_LENGTH = 255
"""Code points of the longest operation that the hub accepts."""
MAX_REPORTED_SEGMENTS = 32

COMMON_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
MAX_UNCOMMON = 100
"""Operations of other methods that are reported: some apps answer any method that a stranger invents."""

_UNSENDABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def name_operation(method: str, path: str) -> str:
    """Return `METHOD template` of a path, which may be a template already; short and clean enough to be sent."""
    return _name_template(method[:32], _bound_path(path))


@lru_cache(maxsize=1024)
def _name_template(method: str, path: str) -> str:
    return make_sendable(f"{method} {retemplate(path, {}).path}")


def _bound_path(path: str) -> str:
    """Cut a path to a few whole segments: anybody can send a long path, and templating takes time."""
    if len(path) <= MAX_OPERATION_LENGTH and path.count("/") <= MAX_REPORTED_SEGMENTS:
        return path
    whole = path[: MAX_OPERATION_LENGTH + 1].split("/")[:-1] if len(path) > MAX_OPERATION_LENGTH else path.split("/")
    return "/".join([*whole[: MAX_REPORTED_SEGMENTS + 1], "…"])


def make_sendable(operation: str) -> str:
    """Return an operation in a form that the hub accepts, whatever the request line contains."""
    clean = _UNSENDABLE.sub("\ufffd", operation)
    return clean if len(clean) <= MAX_OPERATION_LENGTH else clean[: MAX_OPERATION_LENGTH - 1] + "…"
