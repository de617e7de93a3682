"""The hints of a tool that follow from its method, unless a hint rule sets them (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit.operations import READS

IDEMPOTENT_METHODS = READS | {"PUT", "DELETE"}  # RFC 9110, 9.2.2


def derive_hints(method: str) -> Mapping[str, bool]:
    """Return all four hints: the defaults of MCP, except if a method promises more (RFC 9110, 9.2)."""
    is_read = method in READS
    return {
        "readOnlyHint": is_read,
        "destructiveHint": not is_read,
        "idempotentHint": method in IDEMPOTENT_METHODS,
        "openWorldHint": True,
    }
