"""The words of an API: the words of its property names, and the verbs that any API uses.

A path segment that is one of these words is part of the API, not a value of its users. Only names of properties are
kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from .common_words import FEW, MANY, SEVERAL
from .segment_form import strip_ending
from .words import singularize, split_words

MAX_PHRASES = 200_000
LONGEST_PHRASE = 3  # words

_ACTIONS = frozenset({
    "abort", "accept", "acknowledge", "activate", "add", "adjust", "all", "allocate", "allow", "analyze",
    "append", "apply", "approve", "archive", "assign", "associate", "attach", "authenticate", "authorize",
    "batch", "block", "bulk", "calculate", "can", "cancel", "check", "classify", "clear", "clone", "close",
    "compare", "complete", "configure", "confirm", "connect", "convert", "copy", "count", "create", "current",
    "deactivate", "deallocate", "decode", "decrement", "decrypt", "delete", "demote", "deny", "deploy",
    "deprovision", "destroy", "detach", "detect", "disable", "disassociate", "disconnect", "discover",
    "dismiss", "download", "duplicate", "edit", "enable", "encode", "encrypt", "enqueue", "enrich", "enroll",
    "estimate", "evaluate", "execute", "export", "extract", "fetch", "filter", "finalize", "find", "finish",
    "follow", "generate", "get", "health", "hide", "ignore", "import", "increment", "info", "init",
    "initialize", "initiate", "introspect", "invalidate", "invite", "join", "launch", "leave", "like", "list",
    "lock", "login", "logoff", "logon", "logout", "lookup", "me", "merge", "migrate", "modify", "move", "mute",
    "new", "open", "parse", "patch", "pause", "pin", "ping", "poll", "post", "predict", "prepare", "preview",
    "print", "promote", "provision", "publish", "purge", "put", "query", "read", "reassign", "reboot",
    "rebuild", "recognize", "recycle", "redeem", "refresh", "refund", "regenerate", "register", "reject",
    "release", "reload", "remove", "rename", "render", "renew", "reopen", "reorder", "replace", "replay",
    "reply", "resend", "reserve", "reset", "resize", "resolve", "restart", "restore", "resume", "retrieve",
    "retry", "revert", "revoke", "rollback", "rotate", "run", "save", "scan", "search", "select", "self",
    "send", "share", "show", "shutdown", "sign", "signin", "signout", "signup", "simulate", "snooze", "split",
    "star", "start", "stop", "submit", "subscribe", "suggest", "summary", "suspend", "sync", "synchronize",
    "terminate", "test", "toggle", "transfer", "translate", "trigger", "unarchive", "unassign", "unban",
    "unblock", "undelete", "undo", "unenroll", "unfollow", "unhide", "unlike", "unlink", "unlock", "unmute",
    "unpause", "unpin", "unpublish", "unregister", "unset", "unstar", "unsubscribe", "unsuspend", "update",
    "upgrade", "upload", "validate", "validation", "verify", "view", "void", "watch", "whoami",
})  # fmt: skip


class Vocabulary:
    """Phrases of one to three words out of property names, in the singular."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._phrases: set[str] = set()

    def add(self, name: str) -> None:
        """Take in one property name that is not data."""
        if name in self._names or len(self._phrases) > MAX_PHRASES:
            return
        self._names.add(name)
        parts, capital = split_words(name), name[:1].isupper()
        for first in range(len(parts)):
            for last in range(first, min(first + LONGEST_PHRASE, len(parts))):
                self._phrases.add(_join_phrase(parts[first : last + 1], capital=capital))

    def __contains__(self, segment: str) -> bool:
        """Return whether a decoded segment is one of the phrases, in singular or plural. An initial capital counts."""
        return _join_phrase(split_words(segment), capital=segment[:1].isupper()) in self._phrases

    def knows_word(self, word: str) -> bool:
        """Return whether a lower-case word is part of a property name that begins without a capital letter."""
        return singularize(word) in self._phrases


WORD_ORIGINS = (
    "a word of many APIs",
    "a word of several APIs",
    "made of words of many APIs",
    "made of words of several APIs",
    "a word of few APIs",
    "made partly of words of other APIs",
    "made of words that no other API has",
)
"""The signs that say whether other APIs have the words of a segment in paths.

Each segment with words has one of them.
"""
FEW_APIS = WORD_ORIGINS[4]
STRANGE_ORIGINS = frozenset(WORD_ORIGINS[4:])
UNKNOWN_ORIGINS = frozenset(WORD_ORIGINS[5:])

LEAST_PART = 3  # letters of each word in a compound
LEAST_WORDS = 3  # words of the API that must be known before a segment is compared with them
LEAST_NAMES = 3  # so many qualified names with familiar words make their first part a namespace
_HUMP = re.compile(r"[a-z][A-Z]")
_QUALIFIED = re.compile(r"[A-Z]+[a-z][A-Za-z0-9]*(?:\.[A-Z]+[a-z][A-Za-z0-9]*)+")


class Style:
    """The style in which an API writes the words of its paths: whether in capitals, and which sign joins them.

    A segment counts only if all of its words are words of other APIs. Of qualified names, such as `Lumen.Network`, the
    first part counts: if most begin with the same one, it is a namespace of the API. Names of people, such as
    `Jane.Doe`, have the same form, but begin differently.
    """

    def __init__(self, segments: Iterable[str]) -> None:
        segments = list(segments)
        self._namespaces = Counter(map(_read_namespace, filter(is_qualified_name, segments)))
        self._familiar_namespaces = Counter(map(_read_namespace, filter(_is_familiar_inside, segments)))
        familiar_segments = [
            segment
            for segment in segments
            if find_origin(segment) in WORD_ORIGINS[:4] and not is_qualified_name(segment)
        ]
        self._cases = Counter(map(_name_case, familiar_segments))
        self._joints = Counter(filter(None, map(_read_joint, familiar_segments)))

    def compare(self, segment: str, *, in_namespace: bool) -> Iterator[str]:
        """Yield the signs in the words of a segment, and whether they are written as the API's other words are.

        in_namespace: whether the segment is a qualified name in a namespace of the API: then its capitals say nothing.
        """
        origin, case = find_origin(segment), _name_case(segment)
        if origin is None:
            return
        strange = False
        if in_namespace:
            yield "in a namespace of several names"
            case = ""
        if case and self._cases.total() >= LEAST_WORDS:
            strange = 2 * self._cases[case] < self._cases.total()
            yield "capital letters unlike the words of the API" if strange else "capital letters as words of the API"
        if not strange:
            yield origin
        yield from self._compare_joint(_read_joint(segment))

    def is_in_namespace(self, segment: str) -> bool:
        """Return whether most qualified names begin like this segment, and some go on with words of other APIs."""
        if not is_qualified_name(segment):
            return False
        namespace = _read_namespace(segment)
        most = 2 * self._namespaces[namespace] > self._namespaces.total()
        return most and self._familiar_namespaces[namespace] >= LEAST_NAMES

    def _compare_joint(self, joint: str) -> Iterator[str]:
        if joint and self._joints.total() >= LEAST_WORDS:
            if 10 * self._joints[joint] < self._joints.total():
                yield "joined unlike the words of the API"
            elif 2 * self._joints[joint] > self._joints.total():
                yield "joined like the words of the API"


@lru_cache(maxsize=20_000)
def find_origin(segment: str) -> str | None:
    """Return which of `WORD_ORIGINS` is true of a segment; None if it has no words."""
    words = [singularize(word) for word in split_words(strip_ending(segment)) if not word.isdigit()]
    if not words:
        return None
    if all(word in MANY for word in words):
        return WORD_ORIGINS[2 if len(words) > 1 else 0]
    if all(map(_is_common, words)):
        return WORD_ORIGINS[3 if len(words) > 1 else 1]
    if len(words) == 1 and (words[0] in FEW or _is_compound(words[0])):
        return WORD_ORIGINS[4]
    return WORD_ORIGINS[5 if any(map(_is_common, words)) else 6]


def _is_common(word: str) -> bool:
    return word in MANY or word in SEVERAL


def _is_compound(word: str) -> bool:
    """Return whether a word is two common words without a joint: `usergroup`, `userid`."""
    parts = ((word[:index], word[index:]) for index in range(LEAST_PART, len(word) - 1))
    return any(
        _is_common(first) and _is_common(last) and (len(last) >= LEAST_PART or last == "id") for first, last in parts
    )


def is_qualified_name(text: str) -> bool:
    """Return whether a text is words in PascalCase joined by dots: `Lumen.Network`, but also `Jane.Doe`."""
    return _QUALIFIED.fullmatch(text) is not None


def _is_familiar_inside(text: str) -> bool:
    """Return whether a text is a qualified name that has words of other APIs behind its first part."""
    return is_qualified_name(text) and find_origin(text.partition(".")[2]) in WORD_ORIGINS[:4]


def _read_namespace(name: str) -> str:
    return name.partition(".")[0]


def _name_case(segment: str) -> str:
    stem = strip_ending(segment).strip("_-")
    if not stem[:1].isupper():
        return ""
    return "capitals" if stem.isupper() else "capitalised"


def _read_joint(segment: str) -> str:
    """Return the sign that joins the words of a segment: `-`, `_`, `.`, or `aA` for a capital letter; "" if none."""
    stem = strip_ending(segment).strip("_-")
    joint = next((sign for sign in "-_." if sign in stem), "")
    return joint or ("aA" if _HUMP.search(stem) else "")


def is_action(segment: str) -> bool:
    """Return whether a segment is a word for what any API does: `search`, `cancel`."""
    return segment.lower() in _ACTIONS


def begins_with_action(segment: str) -> bool:
    """Return whether the first of several words in a segment is an action, as in `generate-notes`."""
    parts = split_words(segment)
    return len(parts) > 1 and parts[0] in _ACTIONS


def _join_phrase(parts: Sequence[str], *, capital: bool) -> str:
    """Return a phrase as one text. `Orders` and `orders` differ, since names that users gave are often capitalised."""
    return " ".join([*("^" if capital else ""), *parts[:-1], *map(singularize, parts[-1:])])
