"""Path segments that are a text in words, such as a title, and so a value."""

from __future__ import annotations

import re

from affidavit._paths.embedded_values import strip_values

_SIGN_OF_NO_NAME = re.compile(r"[!&'*,]")
"""No name in a path of 700 APIs has one, except inside brackets."""
_TEXT_SIGN = re.compile(r'[\s"<>\\^`{|}]')

LEAST_IN_SENTENCE = 8
"""So many words in one segment are a sentence, such as a title. A name in a path of 700 APIs has at most 7."""


def is_sentence(segment: str) -> bool:
    """Return whether a segment is a text in words, such as a title: `how-to-build-a-house-in-three-days`.

    A space, a quote or another sign that no path may hold unencoded is part of texts only: `My report`, `<account>`. So
    is a sign that a path may hold, but names never have: `'Sheet1'`, `red,green`.
    """
    words = sum(any(map(str.isalpha, word)) for word in re.split("[-_+]", segment))
    if words >= LEAST_IN_SENTENCE or _TEXT_SIGN.search(segment):
        return True
    return _SIGN_OF_NO_NAME.search(strip_values(segment)) is not None
