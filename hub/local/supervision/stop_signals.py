"""The signals that end a hub: Ctrl-C, SIGTERM, and a terminal that closes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handle_stop_signals(handle: Callable[[int, FrameType | None], None]) -> None:
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:  # nohup ignores SIGHUP: keep that
            signal.signal(number, handle)


def unwind_on_signals() -> None:
    """Let SIGTERM and a closed terminal unwind this process, as Ctrl-C does.

    So it removes its unfinished files, and stops the programs that it has started.
    """

    def unwind(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            raise KeyboardInterrupt  # commands such as `shell` go on after it
        sys.exit(128 + number)

    handle_stop_signals(unwind)
