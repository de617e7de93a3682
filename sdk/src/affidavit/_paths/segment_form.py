"""Whether a path segment is data by its form: `17`, `order-1042`, `17.json` (contract §4)."""

from __future__ import annotations

import re

from affidavit._data_detection import detect_data_kind, spell_plainly

from .embedded_values import split_segment

_PREFIXED_NUMBER = re.compile(r"[A-Za-z]{1,32}(?:[-_.:][0-9]{3,7}|[0-9]{6,7})")
_ENDING = re.compile(
    r"(?<=.)\.(?:json|xml|csv|html?|txt|pdf|zip|js|ya?ml|atom|rss|mime|php|aspx?|as[hm]x|svc|jspx?|f?cgi)\Z",
    re.IGNORECASE,
)


def detect_segment_form(segment: str) -> str | None:
    """Return the kind of value that a decoded segment is by its form; None for a word.

    The values inside it and its file ending are left out: `17.json` is a number. The whole segment is data if the name
    of a value is data, or if more than a file ending follows a value.
    """
    head, parts = split_segment(segment)
    text = head or segment
    if head and any(part.rest and strip_ending(head + part.rest) != head for part in parts):
        return "text"
    texts = [text, strip_ending(text), *(part.name for part in parts)]
    return next((form for form in map(detect_text_form, texts) if form), None)


def detect_text_form(text: str) -> str | None:
    """Return the kind of value that a text in a path is; None for a word.

    That is a kind of `detect_data_kind`, or `prefixed-number`: `order-1042` is data in a path, and an ordinary name
    elsewhere.
    """
    kind = detect_data_kind(text)
    if kind is not None or (text[-1:].isalpha() and "%" not in text):  # most words end like this, and not with a number
        return kind
    return "prefixed-number" if _PREFIXED_NUMBER.fullmatch(spell_plainly(text)) else None


def strip_ending(text: str) -> str:
    """Remove a file ending: `17.json` -> `17`."""
    return _ENDING.sub("", text)
