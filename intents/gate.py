"""Which calls have to pass the confirmation gate, and what a confirmation is of (pure; contract 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Only what is plainly a read over HTTP passes; operations of other transports say nothing of what they do.
READS = re.compile(r"(?:GET|HEAD|OPTIONS) /")


@dataclass(frozen=True)
class Call:
    """Who does what with which arguments. args_hash: 64 lower-case hex digits, as `argsHash` in an intent."""

    sub: str
    operation: str
    args_hash: str


def needs_confirmation(operation: str) -> bool:
    return READS.match(operation) is None
