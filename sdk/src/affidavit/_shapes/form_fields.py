"""Read the fields of forms: their names, and which are files; never their values (contract §4).

There are two encodings: `application/x-www-form-urlencoded`, and `multipart/form-data` (RFC 7578). Under the
first type, clients also send other texts, which are only values. So a text is read only if it is surely a form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from affidavit._json import Json

from .evidence import Evidence
from .media_types import MULTIPART, strip_parameters
from .redaction import Redactor
from .values_to_evidence import observe

_MAX_FIELDS = 1000
_MAX_PART_HEADER = 8 * 1024  # bytes
_MAX_PADDING = 100  # bytes after a delimiter

# All printable ASCII but what every client encodes: space, double quote, < > \ ^ ` { }
_URL_ENCODED = re.compile(rb"[!#-;=?-\[\]_a-z|~]*")
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\"<>\\{}]{1,200}")
_BOUNDARY = re.compile(r""";\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";,]{1,70}))""", re.IGNORECASE)
_DISPOSITION = re.compile(rb"\r\ncontent-disposition:[ \t]*form-data[ \t]*(;[^\r]*)", re.IGNORECASE)
_PARAMETER = re.compile(rb';[ \t]*([A-Za-z*]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))')
_OCTETS = re.compile(rb"\r\ncontent-type:[ \t]*application/octet-stream", re.IGNORECASE)


class FormField(NamedTuple):
    """One field of a form. Several may have the same name."""

    name: str
    is_file: bool = False


class FormFields(NamedTuple):
    """The fields of one form, in order."""

    fields: tuple[FormField, ...]

    @property
    def size(self) -> int:
        """Return the number of characters of all names together."""
        return sum(len(field.name) for field in self.fields)


class InvalidForm(ValueError):
    """The body is not surely a form."""


class TooManyFields(InvalidForm):
    """The form has more fields than are read."""


def build_form(fields: Iterable[FormField]) -> FormFields:
    """Return the form of these fields. Raises InvalidForm without a field or for an invalid name, or TooManyFields."""
    form = FormFields(tuple(fields))
    if len(form.fields) > _MAX_FIELDS:
        raise TooManyFields
    if not form.fields or not all(_NAME.fullmatch(field.name) for field in form.fields):
        raise InvalidForm
    return form


def parse_form(data: bytes) -> FormFields:
    """Return the fields of a url-encoded form. Raises InvalidForm if the text is not a form, or TooManyFields."""
    pairs = [pair.partition(b"=") for pair in data.strip(b"\r\n").split(b"&") if pair]
    is_filled = any(value for _, _, value in pairs)
    if (
        not is_filled
        or not all(separator for _, separator, _ in pairs)
        or not _URL_ENCODED.fullmatch(data.strip(b"\r\n"))
    ):
        raise InvalidForm
    try:
        names = [unquote_to_bytes(name.replace(b"+", b" ")).decode() for name, _, _ in pairs]
    except UnicodeDecodeError:
        raise InvalidForm from None
    return build_form(map(FormField, names))


def find_boundary(content_type: str) -> bytes:
    """Return the boundary of a multipart form; empty for any other type, or without a boundary."""
    if strip_parameters(content_type) != MULTIPART:
        return b""
    match = _BOUNDARY.search(content_type)
    return (match[1] or match[2]).encode("latin-1", "replace") if match else b""


class PartScanner:
    """Find the parts of a multipart form that comes in pieces of any size. Of the text, only the names are kept."""

    __slots__ = ("_delimiter", "_fields", "_has_given_up", "_is_in_header", "_position", "_text", "has_ended")

    def __init__(self, boundary: bytes) -> None:
        self._delimiter = b"\r\n--" + boundary
        self._text = b"\r\n"  # so that the first delimiter begins like the others
        self._position = 0
        self._fields: list[FormField] = []
        self._is_in_header = self._has_given_up = self.has_ended = False

    def add(self, chunk: bytes) -> None:
        """Scan the next piece."""
        if self.has_ended or self._has_given_up:
            return
        self._text += chunk
        while self._scan_header() if self._is_in_header else self._scan_content():
            pass
        self._text, self._position = self._text[self._position :], 0

    def finish(self) -> FormFields:
        """Return the fields. Raises InvalidForm, TooManyFields."""
        if self.has_ended or len(self._fields) > _MAX_FIELDS:
            return build_form(self._fields)
        raise InvalidForm

    def _scan_header(self) -> bool:
        """Read the header of a part, which begins with a line break. Return whether to go on."""
        start, end = self._position, self._text.find(b"\r\n\r\n", self._position)
        if end < 0 and len(self._text) - start <= _MAX_PART_HEADER:
            return False
        field = _read_field(self._text[start : end + 2]) if 0 <= end <= start + _MAX_PART_HEADER else None
        if field is None:
            return self._give_up()
        self._fields.append(field)
        self._position, self._is_in_header = end + 2, False
        return len(self._fields) <= _MAX_FIELDS or self._give_up()

    def _scan_content(self) -> bool:
        """Pass over the content of a part, up to the next delimiter. Return whether to go on."""
        start = self._text.find(self._delimiter, self._position)
        if start < 0:
            self._position = max(self._position, len(self._text) - len(self._delimiter) + 1)
            return False
        end = start + len(self._delimiter)
        if self._text.startswith(b"--", end):
            self.has_ended = True
            return self._give_up()
        line_end = self._text.find(b"\r\n", end, end + _MAX_PADDING + 2)
        if line_end < 0 and len(self._text) - end <= _MAX_PADDING:
            self._position = start
            return False
        self._is_in_header = line_end >= 0 and not self._text[end:line_end].strip(b" \t")
        self._position = line_end if self._is_in_header else end
        return True

    def _give_up(self) -> bool:
        """Read nothing more. Return False, as the methods do that have nothing to go on with."""
        self._has_given_up, self._position = True, len(self._text)
        return False


def _read_field(header: bytes) -> FormField | None:
    """Return name and kind of a part; None if it has no name."""
    disposition = _DISPOSITION.search(header)
    parameters = {
        name.lower(): quoted_value or plain_value
        for name, quoted_value, plain_value in _PARAMETER.findall(disposition[1] if disposition else b"")
    }
    name = parameters.get(b"name", b"").replace(b'\\"', b'"')
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return None
    is_file = b"filename" in parameters or b"filename*" in parameters or bool(_OCTETS.search(header))
    return FormField(text, is_file) if text else None


def observe_form(evidence: Evidence, form: FormFields, *, redactor: Redactor | None) -> None:
    """Add one form to `evidence` in place: as an object of strings; a repeated name has an array, as in a query."""
    times = Counter(field.name for field in form.fields)
    value: dict[str, Json] = {name: "" if count == 1 else [""] * count for name, count in times.items()}
    observe(evidence, value, redactor=redactor)
    for field in form.fields:
        child = evidence.properties.get(field.name) if field.is_file else None
        node = child if child is None or times[field.name] == 1 else child.items
        if node is not None:
            node.binary = True
