"""A progress bar on standard error, if that is a terminal."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from affidavit._har.file import Progress

_BAR_WIDTH = 30
_OTHER_WIDTH = 8  # two spaces, the percentage and the last column, in which some terminals wrap
_MANY = 80
_INTERVAL = 0.1  # seconds between two drawings


@contextmanager
def show_progress_bar(label: str) -> Iterator[Progress | None]:
    """Show a bar until the block ends. Yield a callable for the amount done and the total; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        yield _Bar(label)
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Bar:
    def __init__(self, label: str) -> None:
        self._label = label
        self._due = 0.0

    def __call__(self, position: int, total: int) -> None:
        now = time.monotonic()
        if now < self._due or not total:
            return
        self._due = now + _INTERVAL
        room = _read_columns() - len(self._label) - _OTHER_WIDTH  # a line that wraps could not be drawn over
        width = max(0, min(_BAR_WIDTH, room))
        filled_width = width * position // total
        bar = "█" * filled_width + "░" * (width - filled_width)
        label = self._label if room >= 0 else ""
        sys.stderr.write(f"\r{label} {bar} {100 * position // total:3d} %\x1b[K")
        sys.stderr.flush()


def _read_columns() -> int:
    """Return the columns of the terminal, many if it does not say."""
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or _MANY
    return _MANY
