"""The files of counts that the processes of a machine share. A full disk must not end a process that counts."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

from prometheus_client import values
from prometheus_client.mmap_dict import _INITIAL_MMAP_SIZE, MmapedDict

HEADING = 8  # bytes before the first entry
LONGEST_FRAME = 32  # bytes of an entry beside its key


class ReservedFile(MmapedDict):
    """A file of counts, whose space is reserved before it is used.

    A write to a mapped page for which the disk has no space ends the process by SIGBUS. If there is no space, the
    process counts in its memory from then on, and its later counts are not shown.
    """

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        self._is_in_memory = not read_mode and not make(Path(filename))
        if self._is_in_memory:
            self._f: Any = None
            self._fname, self._capacity, self._used = filename, _INITIAL_MMAP_SIZE, HEADING
            self._m: Any = mmap.mmap(-1, self._capacity)
            self._positions: dict[str, int] = {}
            return
        super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]  # the class has no types

    def _init_value(self, key: str) -> None:
        while self._used + len(key.encode()) + LONGEST_FRAME > self._capacity:
            self._extend(2 * self._capacity)
        super()._init_value(key)  # type: ignore[no-untyped-call]  # as above

    def _extend(self, capacity: int) -> None:
        if self._is_in_memory or not reserve(Path(self._fname), capacity):
            self._is_in_memory = True
            memory = mmap.mmap(-1, capacity)
            memory[: self._used] = self._m[: self._used]
            self._m = memory
        else:
            self._m = mmap.mmap(self._f.fileno(), capacity)
        self._capacity = capacity


def make(path: Path) -> bool:
    """Make the file of a process, unless there is one. Return whether there was space.

    It gets its name once it is whole: /metrics cannot read a part of it, which a killed process could leave.
    """
    if path.exists():
        return True
    new_path = path.with_suffix(".new")
    try:
        if reserve(new_path, _INITIAL_MMAP_SIZE):
            new_path.replace(path)
            return True
        new_path.unlink(missing_ok=True)
    except OSError:
        pass
    return False


def reserve(path: Path, size: int) -> bool:
    """Let the file have at least this size, with zeros that take space. Return whether there was space."""
    try:
        with path.open("ab") as file:
            file.write(bytes(max(size - file.tell(), 0)))
    except OSError:
        return False
    return True


def use_reserved_files() -> None:
    """Let all metrics that are made from now on count in such files, if PROMETHEUS_MULTIPROC_DIR is set."""
    values.MmapedDict = ReservedFile  # type: ignore[attr-defined]  # it is no part of the package's interface
