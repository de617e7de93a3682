"""A body that is copied while the app reads it: never a byte sooner or more than the app asks for."""

from collections.abc import Callable, Iterator
from typing import Any

from affidavit._witness.bodies import BodyCopy

_ALL = ((), (-1,), (None,))
_INTO_BUFFER = frozenset({"readinto", "readinto1"})


class Tee:
    """Stands for `source` and has all that it has. What is read through it is in `copy`."""

    def __init__(self, source: Any, copy: BodyCopy) -> None:
        self._source = source
        self._copy = copy

    def read(self, *args: Any) -> bytes:
        """See PEP 3333, as for the other three."""
        data = self._noted(self._source.read(*args), asked=args != (0,))
        if args in _ALL:
            self._copy.is_whole = True
        return data

    def readline(self, *args: Any) -> bytes:
        return self._noted(self._source.readline(*args), asked=args != (0,))

    def readlines(self, *args: Any) -> list[bytes]:
        return [self._noted(line) for line in self._source.readlines(*args)]

    def __iter__(self) -> Iterator[bytes]:
        for line in self._source:
            yield self._noted(line)

    def __next__(self) -> bytes:
        return self._noted(next(self._source))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._source, name)
        if name in _INTO_BUFFER:
            return self._noting_buffer(found)
        if name == "read1":
            return lambda *args: self._noted(found(*args), asked=args != (0,))
        if name == "seek":
            self._copy.clear()
        return found

    def _noting_buffer(self, read: Callable[[Any], int | None]) -> Callable[[Any], int | None]:
        def noted(buffer: Any) -> int | None:
            size = read(buffer)
            self._noted(bytes(memoryview(buffer)[: size or 0]), asked=len(buffer) > 0)
            return size

        return noted

    def _noted(self, data: bytes, *, asked: bool = True) -> bytes:
        if data:
            self._copy.add(data)
        elif asked:
            self._copy.is_whole = True
        return data
