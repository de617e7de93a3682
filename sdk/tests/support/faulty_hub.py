"""A hub with a fault that lasts until the test heals it, while a host reports to it."""

import socket
import ssl
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .certificates import write_certificate
from .scripted_hub import Handler, ReceivedRequest, ScriptedHub, Step, answer, problem, raw, silent

DOWN, WRONG_CERTIFICATE = "down", "a wrong certificate"
ANSWERS: Mapping[str, Step] = {
    "silent for 30 s": silent(30),
    "500": answer(500, b"<html>Internal Server Error</html>"),
    "429": problem(429, "rate-limited", "Slow.", Retry_After="1"),
    "garbage": raw(b"\x16\x03\x01\x02\x00\xff\xfe no HTTP at all\r\n\r\n"),
    "half a body": raw(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"rec'),
    "a redirect": answer(307, b"", Location="https://login.example.com/"),
}
FAULTS = (DOWN, *ANSWERS, WRONG_CERTIFICATE)


@dataclass
class FaultyHub:
    """A hub whose `url` has a fault until `heal` is called.

    trusted: the certificate that clients must trust; None without TLS.
    """

    url: str
    trusted: Path | None = None
    _stored: list[ReceivedRequest] = field(default_factory=list)
    _hub: ScriptedHub | None = None
    _context: ssl.SSLContext | None = None
    _closed_socket: socket.socket | None = None

    def heal(self) -> None:
        """End the fault: from now on, answer at the same address as a hub that stores everything."""
        if self._closed_socket:  # it is bound, but does not listen
            port = self._closed_socket.getsockname()[1]
            self._closed_socket.close()
            self._hub = ScriptedHub(self._store, port=port).__enter__()
        if self._context:
            self._context.load_cert_chain(str(self.trusted))
        if self._hub:
            self._hub.server.steps[:] = [self._store]

    def _store(self, handler: Handler) -> None:
        if handler.command == "POST":
            self._stored.append(handler.received)
        answer(200, {"rules": [], "accepted": 1, "recorded": 1, "unknownConversations": []})(handler)

    def count_outcomes(self) -> Counter[str]:
        """Return how often each conversation's outcome was stored. All requests with one Idempotency-Key count once."""
        batches = {
            request.headers["idempotency-key"]: request.json["outcomes"]
            for request in self._stored
            if "idempotency-key" in request.headers
        }
        return Counter(item["conversationId"] for batch in batches.values() for item in batch)

    def count_observations(self) -> int:
        """Return how many observed requests were stored, counting each report once."""
        bodies = (request.json for request in self._stored)
        reports = {body["reportId"]: body["observations"] for body in bodies if "reportId" in body}
        return sum(entry["count"] for entries in reports.values() for entry in entries)


@contextmanager
def run_faulty_hub(fault: str | None, folder: Path) -> Iterator[FaultyHub]:
    """Run a hub with one of FAULTS, or without a fault if None. Raises ImportError if no certificate can be made."""
    hub: ScriptedHub | None = None
    if fault == DOWN:
        closed_socket = socket.socket()
        closed_socket.bind(("127.0.0.1", 0))
        faulty = FaultyHub(f"http://127.0.0.1:{closed_socket.getsockname()[1]}", _closed_socket=closed_socket)
    elif fault == WRONG_CERTIFICATE:
        trusted, wrong = write_certificate(folder / "trusted.pem"), write_certificate(folder / "wrong.pem")
        hub = ScriptedHub(answer(200, {}), certificate=wrong)
        faulty = FaultyHub(hub.url, trusted, _hub=hub, _context=hub.context)
    else:
        hub = ScriptedHub(ANSWERS.get(fault or "", answer(200, {})))
        faulty = FaultyHub(hub.url, _hub=hub)
        if fault is None:
            faulty.heal()
    if hub:
        hub.__enter__()
    try:
        yield faulty
    finally:
        if faulty._hub:
            faulty._hub.__exit__()
