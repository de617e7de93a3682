"""Why does no conversation answer to a reported id? (contract 2; pure)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MAX_BARE = 255  # code points kept of a bare form: folding can lengthen a text
MAX_PARTS = 8  # of an address that are looked at
QUOTES = "\\\"'`“”„‟‘’‚‛«»‹›"
MARKS = "\u200b\u200e\u200f\u2060\ufeff"  # invisible ones that copying leaves at the ends
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
class Known:
    """A conversation of the same workspace: its id and its environment's name."""

    conversation_id: str
    environment: str


@dataclass(frozen=True)
class Diagnosis:
    """`kind` is one of ADVICE; `found` is the conversation that was probably meant."""

    kind: str
    found: Known | None = None


@dataclass(frozen=True)
class Advice:
    """A diagnosis in words: its name, what it means, and what to do."""

    name: str
    meaning: str
    to_do: str


ADVICE: Mapping[str, Advice] = {
    "placeholder": Advice(
        "placeholder",
        "The id is a placeholder that was never filled in.",
        "Read the widget's conversation id after its first turn, and report nothing while there is none.",
    ),
    "other-environment": Advice(
        "other environment",
        "The conversation is known in another environment of this workspace.",
        "Name that environment in the report, or report with the backend that belongs to it.",
    ),
    "altered": Advice(
        "altered",
        "A known id differs only by case, outer white space, quotes, or a URL or path around it.",
        "Store and send the id exactly as the widget gave it, as an opaque string.",
    ),
    "never-seen": Advice(
        "never seen",
        "No conversation with this id has arrived so far.",
        "Wait: it heals by itself if the conversation arrives. Else check where the id comes from.",
    ),
    "late": Advice(
        "late",
        "The report came before its conversation.",
        "Nothing: it healed when the conversation arrived.",
    ),
}


def diagnose(reported: str, *, siblings: Mapping[str, str], alike: Iterable[Known]) -> Diagnosis:
    """The first that fits.

    siblings: environment name by conversation id, of the workspace's other environments;
    alike: known conversations of the workspace with one of `reported`'s bare forms, the likeliest first.
    """
    if is_placeholder(reported):
        return Diagnosis("placeholder")
    if environment := siblings.get(reported):
        return Diagnosis("other-environment", Known(reported, environment))
    for known in alike:
        if is_alteration(reported, known.conversation_id):
            return Diagnosis("altered", known)
    return Diagnosis("never-seen")


def is_placeholder(reported: str) -> bool:
    text = plain_form(reported)
    return text in UNFILLED or TEMPLATE.fullmatch(text) is not None


def is_alteration(reported: str, known: str) -> bool:
    """Equal but for case, outer white space, quotes, or a URL or path around one of the two."""
    one, other = plain_form(reported), plain_form(known)
    return reported != known and (one == other or leads_to(one, other) or leads_to(other, one))


def leads_to(address: str, plain: str) -> bool:
    """Whether a part of the address is this id, or ends in it as in a path's last segments."""
    return plain != "" and any(part == plain or part.endswith(f"/{plain}") for part in parts_of(address))


def parts_of(address: str) -> list[str]:
    """All of it, its path, its query's values and its fragment: where an id may stand."""
    pieces = re.split(r"[?#&]", address, maxsplit=MAX_PARTS)
    parts = [address, *pieces, *(piece.rpartition("=")[2] for piece in pieces)]
    return [part.rstrip("/").strip(AROUND) for part in parts]


def bare_forms(reported: str) -> set[str]:
    """The bare forms that the conversation may have which was meant."""
    return {bare_form(part) for part in parts_of(plain_form(reported)) if part} | {bare_form(reported)}


def bare_form(conversation_id: str) -> str:
    """What an id has in common with its alterations: the last segment of its plain form."""
    return last_segment(plain_form(conversation_id))[:MAX_BARE]


def plain_form(text: str) -> str:
    """Case-folded, without outer white space and (escaped) quotes; empty for an id of nothing else."""
    return text.casefold().strip(AROUND)


def last_segment(text: str) -> str:
    """What follows the last slash, without query, fragment and trailing slash; all, where there is no slash."""
    path = re.split(r"[?#]", text, maxsplit=1)[0].rstrip("/")
    return path.rsplit("/", 1)[-1].strip(AROUND) or text
