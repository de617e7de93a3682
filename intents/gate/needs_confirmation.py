"""The calls that need a confirmation, and the call that a confirmation is for (pure; contract §3)."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.operations import READS


@dataclass(frozen=True)
class Call:
    """A call: the user, the operation and the hash of the arguments.

    args_hash: 64 lower-case hex digits, as `argsHash` in an intent.
    """

    sub: str
    operation: str
    args_hash: str


def needs_confirmation(operation: str) -> bool:
    """Return False only for an HTTP read: operations of other transports do not say whether they change anything."""
    method, _, path = operation.partition(" ")
    return method not in READS or not path.startswith("/")
