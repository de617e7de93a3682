"""JSON texts that signer and verifier write identically: RFC 8785 (JCS) and the form of JSON.stringify.

All functions write numbers as ECMAScript does. They differ in the order of names, in escaping, and in what they do with
an integer that a double cannot represent: `canonical_json` refuses it, the others round it.
"""

import re
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from ._json import Json

_MAX_SAFE = 2**53 - 1
_MIN_SAFE = -_MAX_SAFE
_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_LAST_ARRAY_INDEX = 2**32 - 2

_PLAIN: tuple[tuple[type, type], ...] = (
    (str, str),
    (int, int),
    (float, float),
    (dict, dict),
    (list, list),
    (tuple, list),
)

_Write = Callable[[Any], str]


class NotCanonical(ValueError):
    """The value has no RFC 8785 form: its JCS text would mean another value, or would not be JSON (contract §3).

    The message says what is wrong, and never contains the value.
    """


def canonical_json(value: Json) -> bytes:
    """Return the RFC 8785 form of `value`, in UTF-8.

    Raises NotCanonical for an integer that a double cannot represent, because its JCS text has another value. Raises it
    too for infinity, NaN, a lone surrogate, a name that is not a string, a type that is not JSON, and nesting too deep
    for Python's recursion limit.
    """
    return _encode(_canonical_text, value)


def compact_json(value: Json) -> bytes:
    """Return what JavaScript's `JSON.stringify(JSON.parse(text))` returns for a text that parses to `value`.

    Integers beyond a double's precision are rounded as JavaScript rounds them.
    """
    return _encode(_compact_text, value)


def ascii_json(value: Json) -> bytes:
    """Return the form of `compact_json` with everything but printable ASCII escaped, as Python's json writes it."""
    return _encode(_ascii_text, value)


def number_text(value: float) -> str:
    """Return a finite double as ECMAScript writes it (`Number::toString`, RFC 8785 section 3.2.2.3)."""
    # repr gives the same shortest digits; only the layout differs.
    text = repr(value)
    if text[-2:] == ".0":
        return text[:-2] if value else "0"
    if "e" in text:
        return _format_scientific(text)
    if "n" in text:
        raise NotCanonical("infinity and NaN are not JSON")
    return text


def _format_scientific(text: str) -> str:
    """Convert Python's scientific notation to ECMAScript's, which has an exponent only below 1e-6 and from 1e21 on."""
    mantissa, _, power = text.partition("e")
    is_negative = text[0] == "-"
    if power[0] == "+":
        if len(power) > 3 or power > "+20":
            return text
        return mantissa.replace(".", "").ljust(is_negative + int(power) + 1, "0")
    exponent = int(power)
    if exponent > -7:
        sign, digits = mantissa[:is_negative], mantissa[is_negative:].replace(".", "")
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{mantissa}e{exponent}"


def _format_exact_integer(value: int) -> str:
    """Return the JCS text of an integer.

    Raises NotCanonical for an integer that a double cannot represent: several such integers would share one text.
    """
    if _MIN_SAFE <= value <= _MAX_SAFE:
        return repr(value)
    text = _format_rounded_integer(value)
    mantissa, _, power = text.partition("e+")
    whole, _, fraction = mantissa.partition(".")
    if int(whole + fraction) * 10 ** (int(power or 0) - len(fraction)) != value:
        raise NotCanonical("an integer is beyond what a double carries exactly")
    return text


def _format_rounded_integer(value: int) -> str:
    try:
        return number_text(float(value))
    except OverflowError:
        raise NotCanonical("a number is beyond the range of a double") from None


def _sort_by_utf16(names: Iterable[str]) -> list[str]:
    """Sort by UTF-16 code units (RFC 8785 section 3.2.3); for ASCII names that is Python's own order."""
    if "".join(names).isascii():
        return sorted(names)
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def _sort_like_javascript(names: Iterable[str]) -> list[str]:
    """Sort as JavaScript lists an object's names: array indexes first, by value; then the rest in their given order."""
    indexes = {name for name in names if _ARRAY_INDEX.match(name) and int(name) <= _LAST_ARRAY_INDEX}
    if not indexes:
        return list(names)
    return sorted(indexes, key=int) + [name for name in names if name not in indexes]


class _Writers(dict[type, _Write]):
    """The function that writes each type of value. A value of a subclass is written as its JSON base type."""

    def __missing__(self, kind: type) -> _Write:
        for base, plain in _PLAIN:
            if issubclass(kind, base):
                return lambda value: self[plain](str.__str__(value) if plain is str else plain(value))
        raise NotCanonical("a value is of a type that is not JSON")


def _build_writer(quote: _Write, order: Callable[[Iterable[str]], list[str]], integer: _Write) -> _Write:
    """Return a function from JSON values to their texts. It is a closure for speed: every hash calls it."""

    # Many objects have the same names, as in an array of records. Equal names are sorted and quoted once per call.
    # Threads may share the dictionary, because an entry depends only on its key.
    shapes: dict[tuple[str, ...], list[tuple[str, str]]] = {}

    def write_object(value: dict[str, Any]) -> str:
        shape = tuple(value)
        members = shapes.get(shape)
        if members is None:
            members = shapes[shape] = [(name, f"{quote(name)}:") for name in order(shape)]
        texts = [start + writers[type(item := value[name])](item) for name, start in members]
        return f"{{{','.join(texts)}}}"

    def write_array(value: list[Any]) -> str:
        return f"[{','.join([writers[type(item)](item) for item in value])}]"

    writers = _Writers(
        {
            str: quote,
            int: integer,
            float: number_text,
            bool: {True: "true", False: "false"}.__getitem__,
            type(None): {None: "null"}.__getitem__,
            dict: write_object,
            list: write_array,
        }
    )

    def write(value: Any) -> str:
        try:
            return writers[type(value)](value)
        finally:
            shapes.clear()

    return write


_canonical_text = _build_writer(encode_basestring, _sort_by_utf16, _format_exact_integer)
_compact_text = _build_writer(encode_basestring, _sort_like_javascript, _format_rounded_integer)
_ascii_text = _build_writer(encode_basestring_ascii, _sort_like_javascript, _format_rounded_integer)


def _encode(write: _Write, value: Json) -> bytes:
    try:
        return write(value).encode("utf-8")
    except UnicodeEncodeError:
        raise NotCanonical("a string holds a lone surrogate") from None
    except RecursionError:
        raise NotCanonical("the value is nested too deeply, or holds itself") from None
    except TypeError:
        raise NotCanonical("a name is not a string") from None
