"""A progress bar on standard error, if that is a terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from affidavit._har.file import Progress

_BAR_WIDTH = 30
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
        filled_width = _BAR_WIDTH * position // total
        bar = "█" * filled_width + "░" * (_BAR_WIDTH - filled_width)
        sys.stderr.write(f"\r{self._label} {bar} {100 * position // total:3d} %\x1b[K")
        sys.stderr.flush()
