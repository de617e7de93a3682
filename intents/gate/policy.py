"""Which calls have to pass the confirmation gate, and what a confirmation is of (pure; contract 3)."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.operations import READS


@dataclass(frozen=True)
class Call:
    """Who does what with which arguments. args_hash: 64 lower-case hex digits, as `argsHash` in an intent."""

    sub: str
    operation: str
    args_hash: str


def needs_confirmation(operation: str) -> bool:
    """Only what is plainly a read over HTTP passes; operations of other transports say nothing of what they do."""
    method, _, path = operation.partition(" ")
    return method not in READS or not path.startswith("/")
