"""Copy a body while the app reads it. Nothing is read beyond what the app reads."""

from collections.abc import Callable, Iterator
from typing import Any

from affidavit._witness.bodies import BodyCopy

_ALL = ((), (-1,), (None,))
_INTO_BUFFER = frozenset({"readinto", "readinto1"})


class Tee:
    """Wrap `source`: everything that is read through it is added to `copy`."""

    def __init__(self, source: Any, copy: BodyCopy) -> None:
        self._source = source
        self._copy = copy

    def read(self, *args: Any) -> bytes:
        """See PEP 3333, also for the methods below."""
        data = self._note(self._source.read(*args), expects_data=args != (0,))
        if args in _ALL:
            self._copy.is_whole = True
        return data

    def readline(self, *args: Any) -> bytes:
        return self._note(self._source.readline(*args), expects_data=args != (0,))

    def readlines(self, *args: Any) -> list[bytes]:
        return [self._note(line) for line in self._source.readlines(*args)]

    def __iter__(self) -> Iterator[bytes]:
        for line in self._source:
            yield self._note(line)

    def __next__(self) -> bytes:
        return self._note(next(self._source))

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._source, name)
        if name in _INTO_BUFFER:
            return self._wrap_readinto(attribute)
        if name == "read1":
            return lambda *args: self._note(attribute(*args), expects_data=args != (0,))
        if name == "seek":
            self._copy.clear()
        return attribute

    def _wrap_readinto(self, read: Callable[[Any], int | None]) -> Callable[[Any], int | None]:
        def read_into(buffer: Any) -> int | None:
            size = read(buffer)
            self._note(bytes(memoryview(buffer)[: size or 0]), expects_data=len(buffer) > 0)
            return size

        return read_into

    def _note(self, data: bytes, *, expects_data: bool = True) -> bytes:
        """Copy what was read.

        expects_data: whether more than 0 bytes were requested. Then empty data means the end.
        """
        if data:
            self._copy.add(data)
        elif expects_data:
            self._copy.is_whole = True
        return data
