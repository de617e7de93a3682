"""Values inside a path segment: `Customers('anna')`, `parcels;owner=anna`. They are data whatever they look like.

OData puts keys in brackets. RFC 3986 (3.3) names `;` and `=` for parameters of one segment.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from affidavit._shapes.data_like import detect_form

_PARTS = re.compile(
    r"(?P<bracket>\()(?P<inner>[^()/]+)(?=\))"
    r"|(?P<name>;[^;=()/]*=)(?P<value>[^;()/]+)",
)
_INSIDE = re.compile(r"\([^()]*\)|;[^;=()]*=")
_ENDING = re.compile(
    r"(?<=.)\.(?:json|xml|csv|html?|txt|pdf|zip|js|ya?ml|atom|rss|mime|php|aspx?|as[hm]x|svc|jspx?|f?cgi)\Z",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"%(?:27|28|29|3[Bb])")
_DECODED = {"%27": "'", "%28": "(", "%29": ")", "%3B": ";", "%3b": ";"}


def replace_values(segment: str, replace: Callable[[str, str], str]) -> str:
    """Return a raw segment with `replace(name, value)` in place of each value inside it.

    name: the text before the value, which names it. The quotes of a text in brackets stay.
    """
    if not ("(" in segment or ";" in segment or "%" in segment):
        return segment
    plain = _ENCODED.sub(lambda match: _DECODED[match[0]], segment)
    if not _PARTS.search(plain):
        return segment
    head = re.split(r"[(;]", plain, maxsplit=1)[0]

    def replace_part(match: re.Match[str]) -> str:
        if match["bracket"] is None:
            return match["name"] + replace(match["name"].strip(";="), match["value"])
        inner = match["inner"]
        quote = "'" if len(inner) > 1 and inner[0] == inner[-1] == "'" else ""
        return f"({quote}{replace(head, inner.strip(quote) if quote else inner)}{quote}"

    return _PARTS.sub(replace_part, plain)


def strip_values(segment: str) -> str:
    """Return the part of a decoded segment before the first value inside it: `Customers('anna')` -> `Customers`."""
    return _INSIDE.split(segment, maxsplit=1)[0] or segment


def detect_segment_form(segment: str) -> str | None:
    """Return the kind of value that a decoded segment is by its form; None for a word.

    The values inside it and its file ending are left out: `17.json` is a number.
    """
    text = strip_values(segment)
    return detect_form(text) or detect_form(strip_ending(text))


def strip_ending(text: str) -> str:
    """Remove a file ending: `17.json` -> `17`."""
    return _ENDING.sub("", text)
