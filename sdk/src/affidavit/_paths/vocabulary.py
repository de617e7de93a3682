"""The words of an API: those of its property names, and the common words for actions.

A path segment that is one of these words is part of the API, not a value of a user. Only property names are held.
"""

from __future__ import annotations

from collections.abc import Sequence

from .words import singularize, split_words

MAX_PHRASES = 200_000
LONGEST_PHRASE = 3  # words

_ACTIONS = frozenset({
    "abort", "accept", "activate", "add", "all", "apply", "approve", "archive", "assign", "attach",
    "authorize", "batch", "block", "bulk", "can", "cancel", "check", "clear", "clone", "close", "complete",
    "confirm", "convert", "copy", "count", "create", "current", "deactivate", "delete", "deny", "deploy",
    "destroy", "detach", "disable", "download", "duplicate", "edit", "enable", "execute", "export", "fetch",
    "filter", "find", "finish", "follow", "generate", "get", "health", "import", "info", "init", "invalidate",
    "invite", "join", "leave", "like", "list", "lock", "login", "logout", "lookup", "me", "merge", "migrate",
    "move", "mute", "new", "open", "patch", "pause", "ping", "pin", "post", "preview", "promote", "publish",
    "purge", "put", "query", "read", "reboot", "rebuild", "recycle", "refresh", "refund", "regenerate",
    "register", "reject", "release", "reload", "remove", "rename", "render", "renew", "reopen", "reorder",
    "replace", "reset", "resize", "resolve", "restart", "restore", "resume", "retry", "revert", "revoke",
    "rollback", "rotate", "run", "save", "scan", "search", "self", "send", "share", "shutdown", "sign",
    "star", "start", "stop", "submit", "subscribe", "summary", "suspend", "sync", "terminate", "test",
    "toggle", "transfer", "trigger", "unarchive", "unassign", "unfollow", "unlock", "unpublish", "unstar",
    "unsubscribe", "update", "upgrade", "upload", "validate", "validation", "verify", "watch", "whoami",
})  # fmt: skip


class Vocabulary:
    """Phrases of one to three words from property names, in the singular."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._phrases: set[str] = set()

    def add(self, name: str) -> None:
        """Add a property name that is not data."""
        if name in self._names or len(self._phrases) > MAX_PHRASES:
            return
        self._names.add(name)
        parts, capital = split_words(name), name[:1].isupper()
        for first in range(len(parts)):
            for last in range(first, min(first + LONGEST_PHRASE, len(parts))):
                self._phrases.add(_join_phrase(parts[first : last + 1], capital=capital))

    def __contains__(self, segment: str) -> bool:
        """Return whether a decoded path segment is such a phrase, singular or plural, with the same capital."""
        return _join_phrase(split_words(segment), capital=segment[:1].isupper()) in self._phrases

    def reads_like_collection(self, segment: str) -> bool:
        """Return whether a segment is a plural of several known words: `retention-filters`."""
        parts = split_words(segment)
        return (
            len(parts) > 1
            and singularize(parts[-1]) != parts[-1]
            and all(_join_phrase([word], capital=False) in self._phrases for word in parts)
        )


def is_action(segment: str) -> bool:
    """Return whether a segment is a common word for an action: `search`, `cancel`."""
    return segment.lower() in _ACTIONS


def begins_with_action(segment: str) -> bool:
    """Return whether a segment of several words begins with an action: `generate-notes`."""
    parts = split_words(segment)
    return len(parts) > 1 and parts[0] in _ACTIONS


def _join_phrase(parts: Sequence[str], *, capital: bool) -> str:
    """Return a phrase as one text. `Orders` and `orders` differ, since names given by users often have capitals."""
    return " ".join([*("^" if capital else ""), *parts[:-1], *map(singularize, parts[-1:])])
