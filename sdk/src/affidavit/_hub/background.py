"""The background thread of a reporter: started when needed, and again after a fork."""

import threading
from collections.abc import Callable
from contextlib import suppress


class Background:
    """Call `work` repeatedly in a daemon thread of this process.

    work: does everything that is due; must not raise.
    pause: seconds until the next call, None to wait for `wake`.
    delay: seconds between `wake` and its round of work, which also serves every `wake` in between. One round for each
        `wake` would interrupt the host's threads each time.
    is_ending: whether `end` was called, so that the current round is the last.
    """

    def __init__(
        self, name: str, work: Callable[[], None], pause: Callable[[], float | None], *, delay: float = 0.0
    ) -> None:
        self._name, self._work, self._pause, self._delay = name, work, pause, delay
        self.reset()

    def reset(self) -> None:
        """Reset to the state of a new process: a lock held during a fork is never released in the child."""
        self._lock = threading.Lock()
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._last_request = self._last_finished_request = 0
        self._is_woken = self.is_ending = False

    def start(self) -> bool:
        """Start the thread unless it runs. Return False if it cannot be started."""
        if self._thread is not None or self.is_ending:
            return self._thread is not None
        with self._lock:
            if self._thread is not None:
                return True
            # Condition and thread are made now: gevent may have replaced their classes since `reset`, and objects of
            # old and new classes do not work together.
            self._condition = threading.Condition()
            thread = self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()  # without the lock, since under gevent a start lets other greenlets run
        except RuntimeError:  # the interpreter is shutting down, or the system has no thread left
            self._thread = None
            return False
        return True

    def wake(self) -> None:
        """Ask for a round of work after the delay, and return at once."""
        if self._is_woken:
            return
        with self._condition:
            self._is_woken = True
            self._condition.notify_all()

    def flush(self, timeout: float | None) -> bool:
        """Ask for a round of work now, and wait until it is done.

        Return False if it is not done within `timeout` seconds, or if the thread cannot be started. After `end`, return
        True at once.
        """
        if self.is_ending:
            return True
        if not self.start():
            return False
        with self._condition:
            self._last_request = request = self._last_request + 1
            self._condition.notify_all()
            return self._condition.wait_for(lambda: self._last_finished_request >= request, timeout)

    def end(self, timeout: float) -> None:
        """Do a last round of work and stop. Wait at most `timeout` seconds for the thread."""
        with self._condition:
            self.is_ending = True
            self._condition.notify_all()
        if self._thread is None:
            self._work()
        elif self._thread is not threading.current_thread():
            with suppress(RuntimeError):  # the thread is just starting, and will notice that it has to stop
                self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._is_woken or self._is_asked(), self._pause())
                self._condition.wait_for(self._is_asked, self._delay if self._is_woken else 0.0)
                self._is_woken = False
                request, is_last_round = self._last_request, self.is_ending
            self._work()
            with self._condition:
                self._last_finished_request = request
                self._condition.notify_all()
            if is_last_round:
                return

    def _is_asked(self) -> bool:
        """Return whether a caller of `flush` or `end` waits for a round of work."""
        return self.is_ending or self._last_request > self._last_finished_request
