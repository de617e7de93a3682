"""Send unsent reports when a process ends or forks, for a bounded time.

A process ends in more ways than `atexit` sees:

- children of `multiprocessing` and billiard end by `os._exit`, after the finalizers of `multiprocessing.util`;
- pool workers of Celery end by `os._exit`, after its signal `worker_process_shutdown`;
- SIGTERM ends a process at once, unless it has a handler;
- uvicorn has a handler for it, but after its shutdown it restores the default handler and raises the signal again.

SIGKILL, `os._exit` and a crash of the interpreter end a process unnoticed: its unsent reports are lost.
"""

import atexit
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from weakref import WeakSet

from .reporter import EXIT_PATIENCE, Reporter

_RETRY_SIGNAL = 0.02
"""Seconds until a signal is raised again, if it came while this package may have held a lock."""
_ONE_END = 60.0
"""Seconds after a wait during which another one belongs to the same end of the process."""
_LAST = -100
"""The priority of the finalizer: after the children were joined."""
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_ADAPTERS = _PACKAGE + "contrib" + os.sep
_EMBEDDING_SERVERS = ("uwsgi", "mod_wsgi")  # these handle signals themselves, unseen by Python


_reporters: "WeakSet[Reporter]" = WeakSet()


def register_reporter(reporter: Reporter) -> None:
    """Let a reporter take part in forks and in the end of the process, as long as it is referenced."""
    _reporters.add(reporter)
    _watch_sigterm()
    _watch_celery()
    _watch_finalizers()


def settle_all() -> None:
    """Send what all reporters of this process have not sent yet; wait at most as long as the longest `exit_timeout`.

    One end of a process may call this several times: under uvicorn at the signal, and at the end of each middleware's
    lifespan. All of these calls together wait no longer than one.
    """
    _finish_all(Reporter._settle)


def _close_all() -> None:
    _finish_all(lambda reporter, timeout: reporter.close(timeout))


def _finish_all(finish: Callable[[Reporter, float], object]) -> None:
    notice_fork()
    began, reporters = time.monotonic(), sorted(_reporters, key=lambda reporter: reporter.exit_timeout)
    if began - _Watched.last_wait > _ONE_END:
        _Watched.waited = 0.0
    _hurry_all()
    for reporter in reporters:
        finish(reporter, max(0.0, began - _Watched.waited + reporter.exit_timeout - time.monotonic()))
    _Watched.last_wait = time.monotonic()
    is_all_sent = not any(reporter._count_unsent() for reporter in reporters)
    _Watched.waited = 0.0 if is_all_sent else _Watched.waited + _Watched.last_wait - began


def _hurry_all() -> None:
    notice_fork()
    for reporter in list(_reporters):
        reporter._hurry()


@contextmanager
def keep_lifespan_open() -> Iterator[None]:
    """Let SIGTERM wait for nothing meanwhile, because the caller will call `settle_all`."""
    _Watched.open_lifespans += 1
    try:
        yield
    finally:
        _Watched.open_lifespans = max(0, _Watched.open_lifespans - 1)  # a fork meanwhile has set it to 0


def notice_fork() -> None:
    """Reset all reporters if this is the child of a fork that Python did not see: uWSGI forks its workers in C."""
    if _Watched.pid != os.getpid():
        with _Watched.lock:
            if _Watched.pid != os.getpid():
                _follow_fork()


def _follow_fork() -> None:
    for reporter in list(_reporters):
        reporter._reset()
    _Watched.waited, _Watched.open_lifespans = 0.0, 0
    if _reporters:
        _watch_celery()
        _watch_finalizers()
    _Watched.pid = os.getpid()


def _follow_seen_fork() -> None:
    _Watched.lock = threading.Lock()  # a lock held during a fork is never released in the child
    _follow_fork()


class _Watched:
    """The state of this module in the process; a fork inherits it.

    waited: seconds that this end of the process has waited for reports that are still unsent.
    last_wait: when it last waited.
    open_lifespans: how many lifespans of ASGI have begun, and will settle the reporters at their end.
    """

    pid = os.getpid()
    lock = threading.Lock()
    finalizers_after_fork = False
    finalizer_pid = 0
    sigterm: "Callable[[int, FrameType | None], object] | int | None" = None
    is_ending = False
    deadline = 0.0
    waited = last_wait = 0.0
    open_lifespans = 0


def _watch_finalizers() -> None:
    """Settle when a child of `multiprocessing` or billiard ends; both use the finalizers of `multiprocessing.util`."""
    util = sys.modules.get("multiprocessing.util")
    if util is None:
        return
    if not _Watched.finalizers_after_fork:
        _Watched.finalizers_after_fork = True
        util.register_after_fork(settle_all, _add_finalizer)  # a child that starts drops all earlier finalizers
    if multiprocessing.parent_process() is not None:
        _add_finalizer(settle_all)


def _add_finalizer(finish: Callable[[], object]) -> None:
    if _Watched.finalizer_pid != os.getpid():
        _Watched.finalizer_pid = os.getpid()
        sys.modules["multiprocessing.util"].Finalize(None, finish, exitpriority=_LAST)


def _watch_celery() -> None:
    signals = sys.modules.get("celery.signals")
    if signals is not None:
        signals.worker_process_shutdown.connect(_settle_worker, weak=False, dispatch_uid="affidavit")


def _settle_worker(**_: object) -> None:
    settle_all()


def _watch_sigterm() -> None:
    """Handle SIGTERM if it would end the process at once or if uvicorn handles it. Leave other handlers alone."""
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGTERM)
    ends_at_once = handler is signal.SIG_DFL or getattr(handler, "__module__", "").startswith("uvicorn.")
    if ends_at_once and not any(name in sys.modules for name in _EMBEDDING_SERVERS):
        with suppress(ValueError):  # a subinterpreter handles no signals
            signal.signal(signal.SIGTERM, _handle_sigterm)
            _Watched.sigterm = handler


def _handle_sigterm(number: int, frame: FrameType | None) -> None:
    """Send the unsent reports, then do what would happen without this handler. A second signal does not wait.

    Under uvicorn this runs on the event loop, where it would delay the requests that still run. So if a lifespan is
    open, the sending only begins here: the end of the lifespan waits for it, in a thread.
    """
    if not _Watched.is_ending:
        if _may_hold_lock(frame) and _has_time():
            timer = threading.Timer(_RETRY_SIGNAL, os.kill, (os.getpid(), number))
            timer.daemon = True
            timer.start()
            return
        _Watched.is_ending = True
        if callable(_Watched.sigterm) and _Watched.open_lifespans:
            _hurry_all()
        else:
            settle_all()
        _Watched.is_ending = False
    _Watched.deadline = 0.0
    if callable(_Watched.sigterm):
        _Watched.sigterm(number, frame)
        return
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.signal(number, _handle_sigterm)  # reached only by process 1 of a container, which the signal does not end


def _has_time() -> bool:
    """Return whether the end of the process can still be put off."""
    _Watched.deadline = _Watched.deadline or time.monotonic() + EXIT_PATIENCE
    return time.monotonic() < _Watched.deadline


def _may_hold_lock(frame: FrameType | None) -> bool:
    """Return whether the main thread was interrupted within this package.

    Adapters do not count, because the app runs inside them.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_PACKAGE) and not name.startswith(_ADAPTERS):
            return True
        frame = frame.f_back
    return False


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_follow_seen_fork)
