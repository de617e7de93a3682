"""The one thread that a reporter works in: begun when needed, anew after a fork, heard out when the process ends."""

import atexit
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

EXIT_PATIENCE = 3.0
"""Seconds that the end of the process waits for what is left."""

R = TypeVar("R")


class Background:
    """Calls `work` again and again in a daemon thread of this process.

    work: must not raise, and does as much as it can at once. pause: seconds until the next time; None until asked.
    """

    def __init__(self, name: str, work: Callable[[], None], pause: Callable[[], float | None]) -> None:
        self._name, self._work, self._pause = name, work, pause
        self.begin_anew()

    def begin_anew(self) -> None:
        """The state of a new process; a lock that was held at a fork would never be released in the child."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = self._done = 0
        self._ending = False

    @property
    def is_ending(self) -> bool:
        """Whether `end` was called: what is done now is done for the last time."""
        return self._ending

    def start(self) -> bool:
        """Have the thread run, if it does not yet. False where none is to be had, now or any more."""
        if self._thread is not None or self._ending:
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
        """Have it work now, without waiting for that."""
        with self._changed:
            self._asked += 1
            self._changed.notify_all()

    def flush(self, timeout: float | None) -> bool:
        """Have it work now, and wait; False when that took longer than `timeout` seconds, or cannot be."""
        if self._ending:
            return True
        if not self.start():
            return False
        with self._changed:
            self._asked = asked = self._asked + 1
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._done >= asked, timeout)

    def end(self, timeout: float) -> None:
        """Have it work once more, and stop; returns within `timeout` seconds."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._thread is None:
            self._work()
        elif self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ending or self._asked > self._done, self._pause())
                asked, ending = self._asked, self._ending
            self._work()
            with self._changed:
                self._done = asked
                self._changed.notify_all()
            if ending:
                return


class _Life(NamedTuple):
    begin_anew: Callable[[Any], object]
    end: Callable[[Any], object]


_lives: "WeakKeyDictionary[Any, _Life]" = WeakKeyDictionary()


def outlast(reporter: R, *, begin_anew: Callable[[R], object], end: Callable[[R], object]) -> None:
    """Calls `begin_anew` in every forked child and `end` when the process ends, while somebody holds the reporter."""
    _lives[reporter] = _Life(begin_anew, end)


def _end_all() -> None:
    for reporter, life in list(_lives.items()):
        life.end(reporter)


def _begin_all_anew() -> None:
    for reporter, life in list(_lives.items()):
        life.begin_anew(reporter)


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all_anew)
