"""A file that only takes up space, until a full disk needs it: without any space, PostgreSQL cannot even recover.

It is emptied when the disk is full, and filled again when there is space.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE_NAME = "ballast"
FULL_BYTES = 24 * 1024 * 1024  # PostgreSQL writes its write-ahead log in files of 16 MiB
COMFORTABLE_BYTES = 128 * 1024 * 1024  # left free when the file is made
CHUNK = bytes(1024 * 1024)

log = logging.getLogger("affidavit.up")


@dataclass(frozen=True)
class Ballast:
    """The ballast file.

    size: the bytes that it takes; 0 for no file.
    """

    path: Path
    size: int

    def tend(self) -> None:
        """Empty the file if the disk is full. If there is space, make it, unless it has its full size already."""
        if not self.size:
            self.path.unlink(missing_ok=True)
            return
        empty_when_full(self.path.parent)
        current_size = measure(self.path)
        free = shutil.disk_usage(self.path.parent).free
        if current_size != self.size and free + current_size >= self.size + COMFORTABLE_BYTES:
            self._fill()

    def _fill(self) -> None:
        new_path = self.path.with_suffix(".new")
        try:
            with new_path.open("wb") as file:
                for chunk in cut(self.size):
                    file.write(chunk)
            new_path.replace(self.path)
        except OSError as error:
            new_path.unlink(missing_ok=True)
            log.warning("%s was not made: %s", self.path, error.strerror)


def cut(size: int) -> Iterator[bytes]:
    """Yield `size` zero bytes in chunks. They must be written, because a hole in the file would take no space."""
    for start in range(0, size, len(CHUNK)):
        yield CHUNK[: size - start]


def measure(path: Path) -> int:
    """Return the size of a file in bytes; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def empty_when_full(data_dir: Path) -> None:
    """Empty the ballast if the disk is full.

    The supervisor calls this each second. Whoever stores what machines send calls it, too: a quick client fills the
    rest of the disk within a second.
    """
    if shutil.disk_usage(data_dir).free >= FULL_BYTES:
        return
    path = data_dir / FILE_NAME
    if size := measure(path):
        os.truncate(path, 0)
        log.error("the disk is full: the %d MiB of %s are free now. Make space.", size >> 20, path)


def is_released(data_dir: Path) -> bool:
    """Return whether the ballast was emptied and not filled again."""
    path = data_dir / FILE_NAME
    return path.exists() and path.stat().st_size == 0


def is_reserve_taken(data_dir: Path) -> bool:
    """Return whether the disk is full again although the ballast was emptied: what is left is for PostgreSQL alone."""
    return is_released(data_dir) and shutil.disk_usage(data_dir).free < FULL_BYTES
