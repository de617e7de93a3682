"""Strict JSON (contract §1 and §3): every text has exactly one meaning, or is refused.

Other parsers keep the last of two equal names, accept `NaN` and pass on half a surrogate pair. If two programs read
a text differently, they disagree about what was signed. Therefore such texts are refused here.
"""

from __future__ import annotations

import json
import math
import re
from enum import Enum
from itertools import accumulate
from typing import Final, NoReturn, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Absent(Enum):
    """The type of `ABSENT`, which means that there was no value. `None` means that the value was null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT

MAX_JSON_DEPTH = 128
_JSON_TYPES = ("application/json", "text/json")
_BYTE_ORDER_MARK = "\ufeff"
_DIGITS_OF_LARGEST_DOUBLE = 309
_SPACES = re.compile(r"[ \t\n\r]*")
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_STEPS = bytes.maketrans(b"[]", b"\x01\xff")  # as signed bytes: +1 for a level in, -1 for a level out
_QUICK_ROUNDS = 8
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_LONE_SURROGATE = re.compile(r"\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f]", re.IGNORECASE)

_MESSAGES = {
    "not-utf-8": "The text is not UTF-8. Encode it as UTF-8.",
    "byte-order-mark": "The text begins with a byte order mark. Send it without one.",
    "duplicate-name": "An object has the same member name twice. Send each name once.",
    "lone-surrogate": "A string holds half of a surrogate pair. Send whole characters.",
    "nul": "A string or a name holds the character NUL. Leave it out.",
    "not-a-number": "NaN and Infinity are not JSON. Send null or leave the member out.",
    "number-overflow": "A number is too large for a double. Send it as a string.",
    "too-deep": "The JSON is nested too deeply.",
    "syntax": "The text is not JSON.",
}


class InvalidJson(ValueError):
    """The text is not strict JSON. The message never repeats any of it.

    reason: a stable slug, one of `not-utf-8 byte-order-mark duplicate-name lone-surrogate nul not-a-number
        number-overflow too-deep syntax`.
    """

    def __init__(self, reason: str, position: str = "") -> None:
        super().__init__(_MESSAGES[reason] + position)
        self.reason = reason


def parse(data: bytes | str, *, max_depth: int = MAX_JSON_DEPTH) -> Json:
    """Return the value of the JSON text `data`. Raises InvalidJson.

    max_depth: the most levels of arrays and objects; the outermost one is level 1.
    """
    text = _decode_text(data)
    if "\\" in text:
        _refuse_bad_escapes(text)
    if "[" in text or text.find("{", 1) > 0:  # more than one level: most payloads of intents have one
        _refuse_depth(text, max_depth)
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        position = f" See line {error.lineno}, column {error.colno}."
    except RecursionError:  # nested deeper than the interpreter can follow
        raise InvalidJson("too-deep") from None
    else:
        return value
    # Raised outside of the handler, so that it does not carry the decoder's error, which holds the whole text.
    raise InvalidJson("syntax", position)


def member_text(text: str, name: str) -> str:
    """Return the JSON text of the member `name` in `text`, which must be a valid object with that member."""
    end = 0
    while True:
        member, end = _PLAIN_DECODER.raw_decode(text, text.index('"', end))
        start = _skip_spaces(text, text.index(":", end) + 1)
        _, end = _PLAIN_DECODER.raw_decode(text, start)
        if member == name:
            return text[start:end]


def whole_number(value: object) -> int | None:
    """Return a JSON value as an integer, None if it is not one: 2.0 is the integer 2, but true is not a number."""
    if type(value) is int:
        return value
    return int(value) if type(value) is float and value.is_integer() else None


def _decode_text(data: bytes | str) -> str:
    if isinstance(data, str):
        text = data
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in set(text)):
            raise InvalidJson("lone-surrogate")
    else:
        try:
            text = str(data, "utf-8")
        except UnicodeDecodeError:
            raise InvalidJson("not-utf-8") from None
    if text.startswith(_BYTE_ORDER_MARK):
        raise InvalidJson("byte-order-mark")
    return text


def _refuse_bad_escapes(text: str) -> None:
    """Refuse escapes of NUL and of half a surrogate pair.

    Searching the text is cheaper than searching the parsed values.
    """
    if not ("\\ud" in text or "\\uD" in text or "\\u0000" in text):  # most escapes are harmless
        return
    text = text.replace("\\\\", "  ")  # an escaped backslash does not begin an escape
    if "\\u0000" in text:
        raise InvalidJson("nul")
    if _LONE_SURROGATE.search(text):
        raise InvalidJson("lone-surrogate")


def _refuse_depth(text: str, max_depth: int) -> None:
    """Raise InvalidJson if brackets are nested more than `max_depth` deep.

    Whether they are paired is left to the parser. A few rounds that remove the innermost pairs are enough for most
    texts; for other texts, one pass counts the levels.
    """
    if text.count("[") + text.count("{") <= max_depth:
        return
    quotes = text.replace("\\\\", "").replace('\\"', "") if "\\" in text else text
    structure = "".join(quotes.split('"')[::2])
    brackets = structure.encode().translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(_QUICK_ROUNDS):
        shorter = brackets.replace(b"[]", b"")
        if len(shorter) == len(brackets):
            break
        brackets = shorter
        max_depth -= 1
    steps = memoryview(brackets.translate(_STEPS)).cast("b")
    if max(accumulate(steps), default=0) > max_depth:
        raise InvalidJson("too-deep")


def _decode(text: str) -> Json:
    """Return the value of a text, as `JSONDecoder.decode` does, but search for white space only if there is any."""
    start = 0 if text.startswith(("{", "[")) else _skip_spaces(text, 0)
    value: Json
    value, end = _DECODER.raw_decode(text, start)
    if end < len(text) and (end := _skip_spaces(text, end)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def is_json_type(media_type: str) -> bool:
    """Return whether a body of this type is JSON (contract §3): application/json, text/json or any `+json`.

    media_type: a media type in lower case without parameters, compared as text.
    """
    return media_type in _JSON_TYPES or media_type.endswith("+json")


def _skip_spaces(text: str, start: int) -> int:
    """Return the position of the first character from `start` on that is not white space."""
    spaces = _SPACES.match(text, start)
    return spaces.end() if spaces else start


def _build_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidJson("duplicate-name")
    return members


def _parse_integer(digits: str) -> int:
    if len(digits) < _DIGITS_OF_LARGEST_DOUBLE:
        return int(digits)
    if math.isinf(float(digits)):
        raise InvalidJson("number-overflow")
    return int(digits)


def _parse_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise InvalidJson("number-overflow")
    return number


def _refuse_constant(_name: str) -> NoReturn:
    raise InvalidJson("not-a-number")


_PLAIN_DECODER = json.JSONDecoder()  # for text that the strict decoder has accepted
_DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object,
    parse_int=_parse_integer,
    parse_float=_parse_float,
    parse_constant=_refuse_constant,
)
