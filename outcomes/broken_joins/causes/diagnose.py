"""Diagnose why no conversation is known by a reported id (contract §2; pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MAX_BARE = 255  # code points kept of a bare form: folding can lengthen a text
MAX_PARTS = 8  # an address is split at most this often to find an id in it
QUOTES = "\\\"'`“”„‟‘’‚‛«»‹›"
MARKS = "\u200b\u200e\u200f\u2060\ufeff"  # invisible characters that copying can leave at the ends of a text
AROUND = QUOTES + MARKS + "".join(filter(str.isspace, map(chr, range(0x3001))))
UNFILLED = {
    "", "undefined", "null", "none", "nil", "nan", "(null)", "<null>", "<nil>", "(nil)", "n/a", "na", "unknown",
    "true", "false", "0", "-1", "string", "example", "placeholder", "todo", "test", "xxx", "...", "…",
    "conversationid", "conversation_id", "conversation-id", "conversation id",
    "yourconversationid", "your_conversation_id", "your-conversation-id",
    "[object object]", "[object promise]", "[object undefined]", "[object null]",
}  # fmt: skip
# The whole text is one of {{x}} {x} ${x} #{x} %{x} %x% <x> <%= x %> [[x]] $(x) :x $x %s %d.
TEMPLATE = re.compile(
    r"\{\{.*\}\}|[$#%]?\{[^{}]*\}|%[^%\s]+%|%[sdv@]|<[^<>]*>|\[\[.*\]\]|[:$][A-Za-z_]\w*|\$\([^()]*\)",
    re.DOTALL,
)


@dataclass(frozen=True)
class KnownConversation:
    """A conversation of the same workspace: its id and its environment's name."""

    conversation_id: str
    environment: str


@dataclass(frozen=True)
class Diagnosis:
    """`kind` is one of those in `advice.ADVICE`; `match` is the conversation that was probably meant."""

    kind: str
    match: KnownConversation | None = None

    @property
    def found_in(self) -> str:
        """Return the environment that knows the id, for `other-environment`; "" for other diagnoses."""
        return self.match.environment if self.match and self.kind == "other-environment" else ""


def diagnose(reported_id: str, *, siblings: Mapping[str, str], candidates: Iterable[KnownConversation]) -> Diagnosis:
    """Return the first diagnosis that fits.

    siblings: the names of other environments of the workspace, each by a conversation id that it knows.
    candidates: known conversations of the workspace with one of the id's bare forms, the most probable first.
    """
    if is_placeholder(reported_id):
        return Diagnosis("placeholder")
    if environment := siblings.get(reported_id):
        return Diagnosis("other-environment", KnownConversation(reported_id, environment))
    for candidate in candidates:
        if _is_alteration(reported_id, candidate.conversation_id):
            return Diagnosis("altered", candidate)
    return Diagnosis("never-seen")


def is_placeholder(reported_id: str) -> bool:
    text = _plain_form(reported_id)
    return text in UNFILLED or TEMPLATE.fullmatch(text) is not None


def _is_alteration(reported_id: str, known_id: str) -> bool:
    """Return whether two ids differ only by case, outer white space, quotes, or a URL or path around one of them."""
    reported_form, known_form = _plain_form(reported_id), _plain_form(known_id)
    if reported_id == known_id:
        return False
    return (
        reported_form == known_form
        or _address_contains(reported_form, known_form)
        or _address_contains(known_form, reported_form)
    )


def _address_contains(address: str, plain_id: str) -> bool:
    """Return whether a part of the address is this id, or a path that ends with it."""
    return plain_id != "" and any(part == plain_id or part.endswith(f"/{plain_id}") for part in _split_address(address))


def _split_address(address: str) -> set[str]:
    """Return the parts of an address that may be an id: all of it, its path, its query's values and its fragment."""
    pieces = re.split(r"[?#&]", address, maxsplit=MAX_PARTS)
    parts = {address, *pieces, *(piece.rpartition("=")[2] for piece in pieces)}
    return {part.rstrip("/").strip(AROUND) for part in parts}


def bare_forms(reported_id: str) -> set[str]:
    """Return the bare forms that the intended conversation may have."""
    return {bare_form(part) for part in _split_address(_plain_form(reported_id)) if part} | {bare_form(reported_id)}


def bare_form(conversation_id: str) -> str:
    """Return what an id has in common with its alterations: the last segment of its plain form."""
    return _last_segment(_plain_form(conversation_id))[:MAX_BARE]


def _plain_form(text: str) -> str:
    """Return the text case-folded, without outer white space and (escaped) quotes; it may be empty."""
    return text.casefold().strip(AROUND)


def _last_segment(text: str) -> str:
    """Return the last segment of a path, without query, fragment and trailing slashes; if none is left, the text."""
    path = re.split(r"[?#]", text, maxsplit=1)[0].rstrip("/")
    return path.rsplit("/", 1)[-1].strip(AROUND) or text
