"""Explain to people what a drift change means: the reason behind `breaks`, and what to do (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from catalog.change_added_types import list_new_types
from catalog.drift.presence.enough_observations import ENOUGH

PATH_SENTENCES = {
    "renamed": "The name of a path parameter is no part of a request, so callers are not affected.",
    "type": "Every segment of a path is text, so no call becomes impossible; a server that parses it may fail.",
}
# Keys: the kind of the change, and whom it breaks.
RESPONSE_SENTENCES: Mapping[tuple[str, str], str] = {
    ("new", ""): "Consumers that ignore fields they do not know are not affected.",
    ("gone", "consumer"): "Consumers that read it no longer get it.",
    ("gone", ""): "It was an error response, which no consumer needs.",
    ("quiet", "consumer"): "Consumers that read it no longer get it.",
    ("quiet", ""): "It was an error response, which no consumer needs.",
    ("back", ""): "It is sent again. Consumers that read it get it again.",
    ("optional", "consumer"): "Consumers that expect it in every response fail where it is missing.",
    ("type", "consumer"): "Consumers that expect {before} can fail on {after}.",
    ("type", ""): "Every value that can come now could come before, so consumers are not affected.",
    ("nullable", "consumer"): "Consumers that do not expect null can fail on it.",
    ("not-null", ""): "Every value that can come now could come before, so consumers are not affected.",
    (
        "media-type",
        "consumer",
    ): "Consumers that accept only the previous media types can fail on the one that was added.",
}
REQUEST_SENTENCES: Mapping[tuple[str, str], str] = {
    (
        "new",
        "consumer",
    ): "Every request since has it, so it may be required: callers that do not send it can be refused.",
    ("new", ""): "Not every request has it, so it is optional: callers that do not send it are not affected.",
    (
        "gone",
        "both",
    ): "Callers no longer send it: a server that needs it fails, and callers that still send it may be refused.",
    (
        "quiet",
        "both",
    ): "Callers no longer send it: a server that needs it fails, and callers that still send it may be refused.",
    ("back", ""): "Callers send it again, as they did before.",
    ("optional", ""): "Callers may leave it out, so those that send it are not affected.",
    ("type", "producer"): "Callers send more than before: a server that accepts only the previous type can fail.",
    ("type", "consumer"): "Callers send less than before: those that still send the previous type may be refused.",
    ("type", "both"): "Callers send another type: a server, or callers that still send the previous type, can fail.",
    ("nullable", "producer"): "Callers send null, too: a server that does not expect it can fail.",
    ("not-null", "consumer"): "Null is no longer sent: callers that still send it may be refused.",
    ("media-type", ""): "Callers send one more media type; those that send a previous one are not affected.",
}
OTHER_SENTENCES: Mapping[str, str] = {
    "type": "Its type changed.",
    "known": "No type had been observed before, so nobody relied on one.",
    "map": "Its keys are data now. The same JSON is described in another way, so nobody is affected.",
    "no-map": "Its keys are names again. The same JSON is described in another way, so nobody is affected.",
    "cut": "The shape is larger than the limit, so what is inside is no longer compared.",
    "redacted": "Only the mark of a sensitive name changed. No value is stored with or without it.",
}
COMPATIBLE = "Nobody is affected."
NEW_STATUS = "It is an answer that was not observed before. Callers that tell success from failure are not affected."
FREQUENT_ERROR = "Callers get {status} in place of an answer, in {seen:,} of {of:,} calls {when}: their calls fail."
LARGE_SHARE = 0.1  # of the calls of a day: an error that comes so often is no exception
# For a value that had only been null: often enough to rely on null (`type`), or too rarely (`known`).
NULL_SENTENCES: Mapping[str, str] = {
    "type": "It was null {times} and nothing else, so consumers may rely on null.",
    "known": "It was null {times}, which is too few to rely on: its type was not known.",
}
UNCOUNTED_NULLS: Mapping[str, str] = {"type": f"{ENOUGH} times or more", "known": f"fewer than {ENOUGH} times"}
TO_DO_IF_BREAKING = "If it was intended, acknowledge it. If not, look at what was released when it began."
TO_DO_IF_ERROR = "If callers are to get it, acknowledge it. If not, find out why their calls fail."
TO_DO_IF_COMPATIBLE = "Nothing has to be done. Acknowledge it to take it off the list of new changes."


class ClassifiedChange(Protocol):
    """A change to explain.

    part: `path`, `query`, `request` or a status.
    breaks: the side that it breaks, as in catalog.drift.compare_outlines.Change.
    """

    part: str
    pointer: str
    kind: str
    before: str
    after: str
    breaks: str


def is_new_status(change: ClassifiedChange) -> bool:
    """Return whether the change is an answer with a status that was not observed before."""
    return change.part.isdigit() and not change.pointer and change.kind == "new"


@dataclass(frozen=True)
class StatusShare:
    """How many of the calls of the latest day had a new status.

    when: `today`, or the day in words.
    """

    seen: int
    of: int
    when: str

    @property
    def is_large(self) -> bool:
        return self.seen >= self.of * LARGE_SHARE and self.seen > 1


def explain_impact(change: ClassifiedChange, share: StatusShare | None = None) -> str:
    """Return whom the change affects, and why.

    share: how many calls had the status, if the change is a new status.
    """
    sentences = RESPONSE_SENTENCES if change.part.isdigit() else REQUEST_SENTENCES
    if change.before == "null" and change.part.isdigit() and change.kind in NULL_SENTENCES:
        return NULL_SENTENCES[change.kind].format(times=_count_nulls(change))
    if is_new_status(change):
        if share and share.is_large and change.part >= "400":
            return FREQUENT_ERROR.format(status=change.part, seen=share.seen, of=share.of, when=share.when)
        return NEW_STATUS
    if change.part == "path" and change.kind in PATH_SENTENCES:
        return PATH_SENTENCES[change.kind]
    sentence = sentences.get((change.kind, change.breaks)) or OTHER_SENTENCES.get(change.kind, COMPATIBLE)
    return sentence.format(
        before=change.before or "the previous type",
        after=" or ".join(list_new_types(change.before, change.after)) or "the new one",
    )


def _count_nulls(change: ClassifiedChange) -> str:
    """Return how often the value was null before the change, or a bound if that was not counted."""
    count = getattr(change, "values_before", None)
    if count is None:
        return UNCOUNTED_NULLS[change.kind]
    return "once" if count == 1 else f"{count:,} times"


def advise(change: ClassifiedChange, *, is_replacement: bool = False) -> str:
    """Return what to do about the change.

    is_replacement: whether it is a new property that seems to replace one that is gone.
    """
    if is_new_status(change) and change.part >= "400":
        return TO_DO_IF_ERROR
    return TO_DO_IF_BREAKING if change.breaks or is_replacement else TO_DO_IF_COMPATIBLE
