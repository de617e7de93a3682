"""The background thread of a reporter: started when needed, again after a fork, flushed when the process ends."""

import atexit
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

EXIT_PATIENCE = 3.0
"""Seconds that the end of the process waits for unsent reports."""

_Reporter = TypeVar("_Reporter")


class Background:
    """Call `work` repeatedly in a daemon thread of this process.

    work: does everything that is due; must not raise. pause: seconds until the next call, None to wait for `wake`.
    """

    def __init__(self, name: str, work: Callable[[], None], pause: Callable[[], float | None]) -> None:
        self._name, self._work, self._pause = name, work, pause
        self.reset()

    def reset(self) -> None:
        """Reset to the state of a new process: a lock held during a fork is never released in the child."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._requested = self._completed = 0
        self._is_stopping = False

    @property
    def is_ending(self) -> bool:
        """Whether `end` was called, so that the current round is the last."""
        return self._is_stopping

    def start(self) -> bool:
        """Start the thread unless it runs. Return False if it cannot be started."""
        if self._thread is not None or self._is_stopping:
            return self._thread is not None
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter is shutting down, or the system has no thread left
                    return False
                self._thread = thread
        return True

    def wake(self) -> None:
        """Ask for a round of work now, and return at once."""
        with self._changed:
            self._requested += 1
            self._changed.notify_all()

    def flush(self, timeout: float | None) -> bool:
        """Ask for a round of work now and wait; False if not done within `timeout` seconds, or without a thread."""
        if self._is_stopping:
            return True
        if not self.start():
            return False
        with self._changed:
            self._requested = requested = self._requested + 1
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._completed >= requested, timeout)

    def end(self, timeout: float) -> None:
        """Do a last round of work and stop; return within `timeout` seconds."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        if self._thread is None:
            self._work()
        elif self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_stopping or self._requested > self._completed, self._pause())
                requested, is_last_round = self._requested, self._is_stopping
            self._work()
            with self._changed:
                self._completed = requested
                self._changed.notify_all()
            if is_last_round:
                return


class _Lifecycle(NamedTuple):
    reset: Callable[[Any], object]
    close: Callable[[Any], object]


_lifecycles: "WeakKeyDictionary[Any, _Lifecycle]" = WeakKeyDictionary()


def register_lifecycle(
    reporter: _Reporter, *, reset: Callable[[_Reporter], object], close: Callable[[_Reporter], object]
) -> None:
    """Call `reset` in each forked child and `close` when the process ends, as long as the reporter is referenced."""
    _lifecycles[reporter] = _Lifecycle(reset, close)


def _close_all() -> None:
    for reporter, lifecycle in list(_lifecycles.items()):
        lifecycle.close(reporter)


def _reset_all() -> None:
    for reporter, lifecycle in list(_lifecycles.items()):
        lifecycle.reset(reporter)


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
