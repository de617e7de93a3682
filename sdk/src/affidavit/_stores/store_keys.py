"""The keys under which stores keep nonces and deliveries: a workspace and a name, in at most 64 characters."""

from hashlib import sha256

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
