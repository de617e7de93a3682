"""The signs that the text of a path segment gives, without its context: its case, digits, length and characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from affidavit._paths.segment_form import strip_ending
from affidavit._paths.words.qualified_names import is_qualified_name

LONG_TEXT = 20  # characters
SHORT_TEXT = 2  # characters
SHORT_CODE = 5  # characters
LONG_NUMBER = 4  # digits

NUMBERED_WORDS = frozenset({
    "base64", "ec2", "ipv4", "ipv6", "k8s", "md5", "oauth1", "oauth2", "s3", "sha1", "sha256", "web3", "x509",
})  # fmt: skip
"""Words whose number is part of their name in any API."""

_ODD_SIGN = re.compile(r"[^\w.$-]|[^\x00-\x7f]|\.\.")
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+")
_CAPITALISED = re.compile(r"(?:[A-Z][a-z]+){2,}")
_DOMAIN = re.compile(r"(?:[a-z0-9_-]+\.)+[a-z]{2,}\.?|(?:[A-Z0-9_-]+\.)+[A-Z]{2,}\.?")
_SOURCE_FILE = re.compile(r".+\.(?:ya?ml|md|rst|toml|ini|cfg|py|sh|rb)", re.IGNORECASE)
_RUN = re.compile(r"[0-9]+|[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+")
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{5}", re.IGNORECASE)
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def list_text_signs(text: str) -> tuple[str, ...]:
    """Return the signs in the text of a segment."""
    return tuple(_list_signs_of_text(text))


def _list_signs_of_text(text: str) -> Iterator[str]:
    stem, letters = strip_ending(text), [character for character in text if character.isalpha()]
    is_source_file = _SOURCE_FILE.fullmatch(text) is not None  # hardly any API answers in these formats
    if is_source_file:
        yield "named like a source file"
        stem = text.rpartition(".")[0]
    elif stem != text:
        yield "has a file ending"
    is_qualified = is_qualified_name(stem)
    if is_qualified:
        yield "reads like a qualified name"
    elif "." in stem and ".." not in stem:
        yield "reads like a domain" if _DOMAIN.fullmatch(stem) else "has a dot"
    if _ODD_SIGN.search(stem):
        yield "has a sign that no word has"
    if stem.startswith("$"):
        yield "begins with a dollar sign"
    if len(text) > LONG_TEXT:
        yield "long"
    if len(text) <= SHORT_TEXT:
        yield "one or two characters"
    if not is_qualified:
        yield from _read_case(stem)
    yield from _read_digits(stem)
    if letters and (not _VOWEL.search(stem) or _CONSONANTS.search(stem)):
        yield "hardly pronounceable"
        if len(stem) > SHORT_CODE and any(map(str.isdigit, stem)):
            yield "hardly pronounceable, with a digit"
    if "-" in stem.strip("-"):
        yield "has a hyphen"
    if "_" in stem.strip("_"):
        yield "has an underscore"


def _read_case(stem: str) -> Iterator[str]:
    if stem.islower() or not any(map(str.isalpha, stem)):
        return
    if stem.isupper():
        yield "in capitals"
    elif _CAMEL.fullmatch(stem):
        yield "in camel case"
    elif _CAPITALISED.fullmatch(stem):
        yield "several capitalised words"
    elif stem[:1].isupper() and stem[1:].islower():
        yield "capitalised"
    else:
        yield "in mixed case"


def _read_digits(stem: str) -> Iterator[str]:
    if not any(map(str.isdigit, stem)) or stem.lower() in NUMBERED_WORDS:
        return
    runs = _RUN.findall(stem)
    if any(run.isdigit() and len(run) >= LONG_NUMBER for run in runs):
        yield "has a long number"
    if sum(run.isdigit() for run in runs) > 1 or (len(runs) > 3 and len(stem) / len(runs) < 3):
        yield "digits and letters take turns"
    elif stem[-1].isdigit():
        yield "ends with a number"
    else:
        yield "has a number inside"
