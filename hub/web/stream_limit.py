"""Bound how many answers a web process streams at once: each occupies a thread until its client has read it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from hub.web.environ import WholeFile
from wire.errors import DomainError
from wire.http.failure_middleware import render_failure

STREAMS = 16  # answers that are generated while they are sent, such as a CSV of all rows; each occupies a thread
STREAM_SLOT = "affidavit.stream_slot"  # the member of the WSGI environment with the StreamSlot of a request
STALL_SECONDS = 20  # how long a client may take for the next piece of a streamed answer


class TooManyStreams(DomainError):
    """Waiting for another stream to end would occupy a thread that others need."""

    code = "rate-limited"
    detail = "Too many downloads are being sent at once. Read those that you have begun, then try again."
    retry_after = STALL_SECONDS


class StreamSlot:
    """A request's right to stream its answer, once it has taken it.

    slots: those that the process has left.
    """

    def __init__(self, slots: threading.Semaphore) -> None:
        self._slots = slots
        self._is_taken = False

    def take(self) -> bool:
        """Take one of the slots; return whether one was left."""
        self._is_taken = self._slots.acquire(blocking=False)
        return self._is_taken

    def release(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._slots.release()


class StreamLimitMiddleware:
    """Refuse an answer that would be streamed when no slot is left. The web server sends a file without a slot."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        slot: StreamSlot | None = request.META.get(STREAM_SLOT)
        if slot is None or not response.streaming or _is_sent_as_file(response) or slot.take():
            return response
        response.close()  # ends the transaction in which it would have read
        return render_failure(request, TooManyStreams())


def _is_sent_as_file(response: HttpResponseBase) -> bool:
    file = getattr(response, "file_to_stream", None)
    return file is not None and WholeFile(file).path is not None
