"""A progress bar on standard error, where a person is looking."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from affidavit._har.scan import Progress

WIDTH = 30
INTERVAL = 0.1  # seconds between two drawings


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """A callable to tell bytes done and in all; None when standard error is no terminal."""
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

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._due or not total:
            return
        self._due = now + INTERVAL
        filled = WIDTH * done // total
        bar = "█" * filled + "░" * (WIDTH - filled)
        sys.stderr.write(f"\r{self._label} {bar} {100 * done // total:3d} %\x1b[K")
        sys.stderr.flush()
