"""The shapes of what a WSGI app answers, copied as they pass (contract 4)."""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from typing import Any, cast
from urllib.parse import quote

from affidavit._witness.bodies import BodyCopy, CopiedBody, Unread, is_json
from affidavit._witness.witness import Witness
from affidavit.contrib._tee import Tee
from affidavit.contrib._wsgi_environ import Environ, leads_nowhere, prefix, rule

App = Callable[[Environ, Any], Iterable[bytes]]


class WitnessMiddleware:
    """Around a WSGI app: tells `witness` what passes, and changes and delays none of it. Put it outermost.

    In Flask, what no route leads to is not seen.
    """

    def __init__(self, app: App, witness: Witness) -> None:
        self._app = app
        self._witness = witness

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """See PEP 3333."""
        exchange = _Exchange(self._witness, environ, start_response)
        try:
            chunks = self._app(environ, exchange.start_response)
        except Exception:  # whatever the app raised is told as a 500, and goes on
            exchange.tell(failed=True)
            raise
        return exchange.watched(chunks)


class _Exchange:
    """One request and its response. What is noted of them never gets in their way."""

    def __init__(self, witness: Witness, environ: Environ, start_response: Any) -> None:
        self._witness = witness
        self._environ = environ
        self._start_response = start_response
        self._prefix = self._path = ""
        self._request: BodyCopy | None = None
        self._status = 0
        self._headers: dict[str, str] = {}
        self._route: str | None = None
        self._response: BodyCopy | None = None
        self._has_passed = self._is_told = self._leads_nowhere = False
        with suppress(Exception):  # whatever stands in the environ, the app has to be asked
            self._enter()

    def start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[..., Any]:
        """The app's `start_response`."""
        further = (exc_info,) if exc_info else ()
        write: Callable[..., Any] = self._start_response(status, headers, *further)
        self._start(status, headers)
        return write if self._response is None else self._copying(write)

    def watched(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """What the server gets: the app's own, unless it has to be copied as it passes."""
        if isinstance(chunks, (list, tuple)):
            for chunk in chunks:
                self.passes(chunk)
            self.tell(whole=True)
            return chunks
        if self._status and (self._response is None or self._is_file(chunks)):
            self.tell()
            return chunks
        return (_SizedPassing if hasattr(chunks, "__len__") else _Passing)(chunks, self)

    def passes(self, chunk: bytes) -> None:
        """One piece of the response is on its way."""
        self._has_passed = True
        if self._response is not None:
            with suppress(TypeError):  # the server will say what is wrong with a piece that is not bytes
                self._response.add(chunk)

    def tell(self, *, whole: bool = False, failed: bool = False) -> None:
        """Once. failed: the app raised; unless some of its answer has passed, the server makes a 500 of it."""
        if self._is_told or not (self._status or failed):
            return
        self._is_told = True
        if self._leads_nowhere:
            return
        if failed and not self._has_passed:
            self._status, self._headers, self._response = 500, {}, None
        with suppress(Exception):  # whatever stands in the environ, the answer must not fail because it was watched
            environ = self._environ
            if self._response is not None:
                self._response.is_whole = whole
            self._witness.observe(
                environ["REQUEST_METHOD"], quote(self._path, encoding="latin-1"), self._status,
                route=self._route or self._found(),
                query=environ.get("QUERY_STRING", ""),
                request_body=self._request_body(),
                request_content_type=environ.get("CONTENT_TYPE"),
                request_encoding=environ.get("HTTP_CONTENT_ENCODING"),
                response_body=self._response_body(),
                response_content_type=self._headers.get("content-type"),
                response_encoding=self._headers.get("content-encoding"),
            )  # fmt: skip

    def _enter(self) -> None:
        """Notes what a router further in may change."""
        environ = self._environ
        self._prefix = environ.get("SCRIPT_NAME", "")
        self._path = self._prefix + environ.get("PATH_INFO", "")
        if is_json(environ.get("CONTENT_TYPE") or ""):
            self._request = BodyCopy(self._witness.max_body)
            environ["wsgi.input"] = Tee(environ["wsgi.input"], self._request)

    def _start(self, status: str, headers: list[tuple[str, str]]) -> None:
        with suppress(Exception):  # what the server has taken is none of our business
            self._status = int(status[:3])
            self._headers = {name.lower(): value for name, value in headers}
            is_due = is_json(self._headers.get("content-type", ""))
            self._response = BodyCopy(self._witness.max_body) if is_due else None
            self._route = self._found()
            self._leads_nowhere = leads_nowhere(self._environ)

    def _found(self) -> str | None:
        found = rule(self._environ)
        return None if found is None else prefix({"SCRIPT_NAME": self._prefix}) + found

    def _copying(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def copied(chunk: bytes) -> Any:
            self.passes(chunk)
            return write(chunk)

        return copied

    def _request_body(self) -> CopiedBody:
        if self._request is None:
            return Unread.NOT_JSON if self._environ.get("CONTENT_TYPE") else None
        length = self._environ.get("CONTENT_LENGTH") or ""
        self._request.is_whole = self._request.is_whole or length == str(self._request.size)
        return self._request.finish()

    def _response_body(self) -> CopiedBody:
        if self._response is not None:
            return self._response.finish()
        return Unread.NOT_JSON if "content-type" in self._headers else None

    def _is_file(self, chunks: Iterable[bytes]) -> bool:
        """Whether the server sends it by itself, past Python."""
        wrapper = self._environ.get("wsgi.file_wrapper")
        return isinstance(wrapper, type) and isinstance(chunks, wrapper)


class _Passing:
    """A response that is copied as it passes, piece by piece."""

    def __init__(self, chunks: Iterable[bytes], exchange: _Exchange) -> None:
        self._source = chunks
        self._iterator: Iterator[bytes] | None = None
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            if self._iterator is None:
                self._iterator = iter(self._source)
            chunk = next(self._iterator)
        except StopIteration:
            self._exchange.tell(whole=True)
            raise
        except Exception:  # whatever the app raised is told as a 500, and goes on
            self._exchange.tell(failed=True)
            raise
        self._exchange.passes(chunk)
        return chunk

    def close(self) -> None:
        """See PEP 3333."""
        try:
            close = getattr(self._source, "close", None)
            if close is not None:
                close()
        finally:
            self._exchange.tell()


class _SizedPassing(_Passing):
    """One of a source whose number of pieces is known: servers make a `Content-Length` of a single one."""

    def __len__(self) -> int:
        return len(cast(Sized, self._source))
