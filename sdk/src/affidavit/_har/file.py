"""Read the entries of a HAR file one by one, in bounded memory.

The file is never in memory as a whole: a window moves over the text, wide enough for one value at a time.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from io import BufferedIOBase, BufferedReader
from typing import NoReturn

from affidavit._errors import HarError
from affidavit._json import Json

from .attached_bodies import ZIP_MAGIC, TooLarge, list_har_members

CHUNK = 256 * 1024
MAX_ENTRY = 16 * 1024 * 1024  # characters of one entry
LOOKAHEAD = 3  # a number at the end of the window may continue: 12 of 12e+5
GZIP_MAGIC = b"\x1f\x8b"

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the size of the file."""

_decoder = json.JSONDecoder()
_space = re.compile(r"[ \t\r\n]*")
_structure = re.compile(r'["{}\[\]]')
_in_string = re.compile(r'["\\]')
_closing = re.compile(r"[}\]]")
_any_character = re.compile(r"(?s:.)")


def scan(
    path: str | os.PathLike[str], progress: Progress | None = None, *, name: str | None = None
) -> Iterator[Json | TooLarge]:
    """Yield each value of `log.entries` of the HAR at `path`: plain, gzip or Playwright's zip, by its content.

    The file is read to its end, so a truncated file is always noticed.

    name: the name of the file in errors, by default its path.

    Raises HarError.
    """
    name = name or os.fspath(path)
    try:
        with open(path, "rb") as file:
            source = _open_source(file, name)
            yield from _Scanner(name, _Window(_decode_pieces(source, file, progress))).read_entries()
    except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error):
        raise HarError(f"{name} is a broken or cut-off gzip or zip file. Get it again.") from None
    except UnicodeDecodeError:
        raise HarError(f"{name} is not in UTF-8. Save it again as UTF-8, as HAR asks for.") from None
    except RuntimeError:  # of zipfile: a password, or a compression that Python does not know
        raise HarError(f"{name} is a zip that cannot be unpacked. Pack it again, without a password.") from None
    except OSError as error:
        raise HarError(f"{name} cannot be read: {error.strerror or 'not a readable file'}.") from None


def _open_source(file: BufferedReader, name: str) -> BufferedIOBase:
    """Return the bytes of the HAR: the file itself, decompressed, or the `.har` of a zip."""
    magic = file.peek(4)[:4]
    if magic[:2] == GZIP_MAGIC:
        return gzip.GzipFile(fileobj=file)
    if magic != ZIP_MAGIC:
        return file
    archive = zipfile.ZipFile(file)
    members = list_har_members(archive)
    if len(members) != 1:
        raise HarError(f"{name} is a zip with {len(members) or 'no'} .har files. Give one that has a single one.")
    return archive.open(members[0])  # type: ignore[return-value]  # typed as IO[bytes]; it is a BufferedIOBase


def _decode_pieces(source: BufferedIOBase, file: BufferedIOBase, progress: Progress | None) -> Iterator[str]:
    """Yield the text in pieces of about CHUNK bytes, without a byte order mark. Characters are never split."""
    decoder = getincrementaldecoder("utf-8-sig")()
    size = os.fstat(file.fileno()).st_size
    while data := source.read(CHUNK):
        if progress and file.seekable():
            progress(file.tell(), size)
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


class _Window:
    """The part of the text that is being scanned: `text` from `position` on."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self.text = ""
        self.position = 0
        self.is_at_end = False

    def widen(self) -> None:
        """Drop the text before the position and at least double the text after it, so that rescanning stays cheap."""
        ahead = [self.text[self.position :]]
        missing = max(len(ahead[0]), 1)
        while missing > 0 and not self.is_at_end:
            piece = next(self._pieces, None)
            self.is_at_end = piece is None
            ahead.append(piece or "")
            missing -= len(ahead[-1])
        self.text, self.position = "".join(ahead), 0

    def peek(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            if space := _space.match(self.text, self.position):
                self.position = space.end()
            if self.position < len(self.text):
                return self.text[self.position]
            if self.is_at_end:
                return ""
            self.widen()

    def find(self, pattern: re.Pattern[str]) -> str:
        """Return the next match of a one-character pattern and move past it; "" at the end."""
        while True:
            if match := pattern.search(self.text, self.position):
                self.position = match.end()
                return match[0]
            self.position = len(self.text)
            if self.is_at_end:
                return ""
            self.widen()


class _Scanner:
    """Walk `{"log": {"entries": [ … ]}}`: read entries and skip everything else."""

    def __init__(self, name: str, window: _Window) -> None:
        self._name = name
        self._window = window
        self._has_entries = False

    def read_entries(self) -> Iterator[Json | TooLarge]:
        if self._window.peek() != "{":
            raise HarError(f"{self._name} is not a HAR file: it is not a JSON object.")
        for member in self._walk_members():
            if member == "log" and self._window.peek() == "{":
                yield from self._read_log()
            else:
                self._read_value()
        if self._window.peek():
            self._refuse(cut=False)
        if not self._has_entries:
            raise HarError(f"{self._name} is JSON but no HAR: it has no log.entries.")

    def _read_log(self) -> Iterator[Json | TooLarge]:
        for member in self._walk_members():
            if member == "entries" and self._window.peek() == "[":
                self._has_entries = True
                yield from (self._read_value() for _ in self._walk_list("[", "]"))
            else:
                self._read_value()

    def _walk_members(self) -> Iterator[str]:
        """Yield the names in an object. The caller must read the value of a name before the next one."""
        for _ in self._walk_list("{", "}"):
            name = self._read_value()
            if not isinstance(name, str):
                self._refuse(cut=False)
            self._expect(":")
            yield name

    def _walk_list(self, opening: str, closing: str) -> Iterator[None]:
        """Yield before each item between two brackets; the caller reads the item."""
        self._expect(opening)
        if self._window.peek() != closing:
            yield
            while self._window.peek() != closing:
                self._expect(",")
                yield
        self._expect(closing)

    def _expect(self, character: str) -> None:
        if (next_character := self._window.peek()) != character:
            self._refuse(cut=not next_character)
        self._window.position += 1

    def _read_value(self) -> Json | TooLarge:
        window = self._window
        window.peek()
        while True:
            try:
                value_and_end: tuple[Json, int] = _decoder.raw_decode(window.text, window.position)
            except (ValueError, RecursionError) as error:
                cut = _may_be_cut(error, window.text)
                if window.is_at_end or not cut:
                    self._refuse(cut=cut)
            else:
                value, end = value_and_end
                if end + LOOKAHEAD <= len(window.text) or window.is_at_end:
                    window.position = end
                    return value
            if len(window.text) - window.position > MAX_ENTRY:
                return self._skip_value()
            window.widen()

    def _skip_value(self) -> TooLarge:
        """Move past a value without keeping it: count the brackets outside strings."""
        depth = 0
        while True:
            character = self._window.find(_structure)
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
            if character == '"':
                self._skip_string()
            if not character:
                self._refuse(cut=True)
            if depth == 0:
                return TooLarge()

    def _skip_string(self) -> None:
        while self._window.find(_in_string) == "\\":
            self._window.find(_any_character)

    def _refuse(self, *, cut: bool) -> NoReturn:
        fault = "is cut off" if cut else "is not valid JSON"
        raise HarError(f"{self._name} {fault}. Export it again.")


def _may_be_cut(error: Exception, text: str) -> bool:
    """Return whether more text could fix the error: if a string is open, or no bracket closes after its position."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or not _closing.search(text, error.pos)
