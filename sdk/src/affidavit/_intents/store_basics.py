"""What the stores of nonces and those of deliveries share: how they name rows, and when they prune."""

from hashlib import sha256

PRUNED_AT_ONCE = 500
"""The most rows that one pruning deletes, so that no request waits long for it."""
PRUNED_EVERY = 250
"""Writes between two prunings: half of `PRUNED_AT_ONCE`, so that pruning always keeps up."""

_MAX_KEY = 64
"""Characters of the longest key in memory."""


def store_key(workspace: str, name: str) -> str:
    """Return a key for (workspace, name): always 64 hex digits."""
    return sha256(_join_names(workspace, name).encode("utf-8", "surrogatepass")).hexdigest()


def memory_key(workspace: str, name: str) -> str:
    """Return a key for (workspace, name) in a store in memory: both as text, or if that is long, `store_key`.

    No text equals a hash, because it contains a colon.
    """
    key = _join_names(workspace, name)
    return key if len(key) <= _MAX_KEY else store_key(workspace, name)


def _join_names(workspace: str, name: str) -> str:
    """Join both names so that no other pair gives the same text."""
    return f"{len(workspace)}:{workspace}{name}"


def is_in_memory(store: object) -> bool:
    """Return whether a store waits for nothing outside this process, as its attribute `is_in_memory` says."""
    return bool(getattr(store, "is_in_memory", False))
