"""The bodies that Playwright writes beside a HAR into one zip."""

from __future__ import annotations

import os
import zipfile
import zlib
from contextlib import suppress

MAX_ATTACHED_BODY = 16 * 1024 * 1024  # bytes of one body
ZIP_MAGIC = b"PK\x03\x04"


class TooLarge:
    """The result for an attached body or an entry that is over its limit: it was skipped."""


class AttachedBodies:
    """The attached bodies of one file. Without a zip, there are none.

    path: the HAR or the zip. If it cannot be read, there are no bodies; `scan` says what is wrong with it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._archive: zipfile.ZipFile | None = None
        self._folder = ""
        with suppress(OSError, zipfile.BadZipFile):
            if _is_zip(path):
                self._archive = zipfile.ZipFile(path)
                self._folder = "".join(list_har_members(self._archive)[:1]).rpartition("/")[0]

    def read(self, name: object) -> bytes | TooLarge | None:
        """Return a body by its name; TooLarge if it is over MAX_ATTACHED_BODY, None if it is missing or broken."""
        if self._archive is None or not isinstance(name, str):
            return None
        try:
            with self._archive.open(f"{self._folder}/{name}" if self._folder else name) as file:
                data = file.read(MAX_ATTACHED_BODY + 1)
        except (KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
            return None
        return data if len(data) <= MAX_ATTACHED_BODY else TooLarge()

    def close(self) -> None:
        """Close the zip."""
        if self._archive is not None:
            self._archive.close()


def _is_zip(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == ZIP_MAGIC


def list_har_members(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of the HAR files, without the attributes that macOS packs beside each file."""
    names = [name for name in archive.namelist() if name.lower().endswith(".har")]
    return [name for name in names if not name.rpartition("/")[2].startswith("._")]
