"""The identity of an operation: its method, and its template without the names of its parameters."""

import re
from typing import NamedTuple

PARAMETER = re.compile(r"\{([^{}]*)\}")
NAMELESS = "{}"


class Identity(NamedTuple):
    """The identity of an operation in an environment.

    key: its template with nameless parameters.
    """

    method: str
    key: str


def strip_names(path: str) -> str:
    """Return a template with nameless parameters: `/orders/{orderId}` → `/orders/{}`."""
    return PARAMETER.sub(NAMELESS, path)
