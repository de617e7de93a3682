"""Observe the requests and responses of a WSGI app (contract §4)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import suppress
from typing import Any, cast
from urllib.parse import quote

from affidavit._shapes.media_types import is_json
from affidavit._witness.bodies import BodyCopy, CopiedBody, Unread, choose_type, is_readable, open_copy
from affidavit._witness.witness import Witness
from affidavit.contrib._tee import Tee

from .environ import Environ, WsgiApp, decode, read_body_type
from .routes import find_rule, has_no_route


class WitnessMiddleware:
    """Wrap a WSGI app: `witness` observes its traffic, and neither changes nor delays it.

    Make this the outermost middleware. In Flask, requests without a route are not observed.
    """

    def __init__(self, app: WsgiApp, witness: Witness) -> None:
        self._app = app
        self._witness = witness

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """See PEP 3333."""
        exchange = _Exchange(self._witness, environ, start_response)
        try:
            chunks = self._app(environ, exchange.start_response)
        except Exception:  # reported as a 500, and raised again
            exchange.report(has_failed=True)
            raise
        return exchange.watch(chunks)


class _Exchange:
    """One request and its response. Observing must never disturb them, and costs each request little."""

    _prefix = _path_info = _path = ""
    _status = 0
    _headers: Mapping[str, str] = {}
    _request: BodyCopy | None = None
    _response: BodyCopy | None = None
    _route: str | None = None
    _has_output = _is_reported = False

    def __init__(self, witness: Witness, environ: Environ, start_response: Any) -> None:
        self._witness = witness
        self._environ = environ
        self._start_response = start_response
        try:
            self._note_request()
        except Exception:  # whatever the environ holds, the app must be called
            self._is_reported = True

    def start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[..., Any]:
        """Start the response for the app."""
        extra_arguments = (exc_info,) if exc_info else ()
        write: Callable[..., Any] = self._start_response(status, headers, *extra_arguments)
        self._note_start(status, headers)
        return write if self._response is None else self._wrap_write(write)

    def watch(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Return the chunks for the server: the app's own chunks, unless they must be copied as they pass."""
        if "content-length" in self._headers and self._is_settled():  # without a length the app may still fail
            return chunks
        if isinstance(chunks, (list, tuple)):
            for chunk in chunks:
                self.note_chunk(chunk)
            self.report(is_whole=True)
            return chunks
        if self._status and (self._response is None or self._is_file(chunks)):
            self.report()
            return chunks
        return (_SizedCopiedChunks if hasattr(chunks, "__len__") else _CopiedChunks)(chunks, self)

    def note_chunk(self, chunk: bytes) -> None:
        """Note one chunk of the response."""
        self._has_output = True
        if self._response is not None:
            try:
                self._response.add(chunk)
            except TypeError:  # the server will reject a chunk that is not bytes
                self._response.clear()

    def report(self, *, is_whole: bool = False, has_failed: bool = False) -> None:
        """Report the exchange, once.

        has_failed: whether the app raised; unless it had sent a chunk, the server sends a 500.
        """
        if not (self._status or has_failed):
            return
        if has_failed and not self._has_output:
            self._status, self._headers, self._response = 500, {}, None
        if self._is_settled():
            return
        self._is_reported = True
        with suppress(Exception):  # whatever the environ holds, observing must not break the response
            environ = self._environ
            request_type, response_type = read_body_type(environ), self._find_response_type()
            if self._response is not None:
                self._response.is_whole = is_whole
            self._witness.observe(
                environ["REQUEST_METHOD"], self._quote_path(), self._status,
                route=self._route or self._find_route(),
                query=environ.get("QUERY_STRING", ""),
                request_body=self._finish_request_body(request_type),
                request_content_type=request_type,
                request_encoding=environ.get("HTTP_CONTENT_ENCODING"),
                response_body=self._finish_response_body(response_type),
                response_content_type=response_type,
                response_encoding=self._headers.get("content-encoding"),
            )  # fmt: skip

    def _is_settled(self) -> bool:
        """Return whether the exchange needs no report: it was reported, or just counted because its shape is known."""
        if not self._is_reported:
            try:
                self._is_reported = self._witness.settles(
                    self._environ["REQUEST_METHOD"], self._quote_path, self._status, self._route or self._find_route(),
                    request_content_type=read_body_type(self._environ),
                    response_content_type=self._find_response_type(),
                )  # fmt: skip
            except Exception:  # whatever the environ holds, observing must not break the response
                self._is_reported = True
        return self._is_reported

    def _find_response_type(self) -> str | None:
        return choose_type(self._headers.get("content-type"), self._headers.get("content-length"))

    def _quote_path(self) -> str:
        return quote(self._path, encoding="latin-1")

    def _note_request(self) -> None:
        """Note the prefix and the path, before an inner router changes them."""
        environ = self._environ
        self._prefix = environ.get("SCRIPT_NAME", "")
        self._path_info = environ.get("PATH_INFO", "")
        self._path = self._prefix + self._path_info
        content_type = environ.get("CONTENT_TYPE")
        if content_type and is_readable(content_type):
            self._request = open_copy(content_type, self._witness.max_body)
            environ["wsgi.input"] = Tee(environ["wsgi.input"], self._request)

    def _note_start(self, status: str, headers: list[tuple[str, str]]) -> None:
        try:
            self._status = int(status[:3])
            self._headers = {name.lower(): value for name, value in headers}
            is_due = is_json(self._headers.get("content-type", ""))
            self._response = BodyCopy(self._witness.max_body) if is_due else None
            self._route = self._find_route()
            self._is_reported = self._is_reported or has_no_route(self._environ)
        except Exception:  # the server has accepted status and headers; they are not checked again here
            self._is_reported = True

    def _find_route(self) -> str | None:
        rule = find_rule(self._environ, self._prefix, self._path_info)
        return decode(self._prefix) + rule if rule and self._prefix else rule

    def _wrap_write(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def write_and_copy(chunk: bytes) -> Any:
            self.note_chunk(chunk)
            return write(chunk)

        return write_and_copy

    def _finish_request_body(self, request_type: str | None) -> CopiedBody:
        if self._request is None:
            return Unread.NOT_JSON if request_type else None
        length = self._environ.get("CONTENT_LENGTH") or ""
        self._request.is_whole = self._request.is_whole or length == str(self._request.size)
        return self._request.finish()

    def _finish_response_body(self, response_type: str | None) -> CopiedBody:
        if self._response is not None:
            return self._response.finish()
        return Unread.NOT_JSON if response_type else None

    def _is_file(self, chunks: Iterable[bytes]) -> bool:
        """Return whether the server sends the chunks as a file, without Python."""
        wrapper = self._environ.get("wsgi.file_wrapper")
        return isinstance(wrapper, type) and isinstance(chunks, wrapper)


class _CopiedChunks:
    """The chunks of a response, copied as they pass."""

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
            self._exchange.report(is_whole=True)
            raise
        except Exception:  # reported as a 500, and raised again
            self._exchange.report(has_failed=True)
            raise
        self._exchange.note_chunk(chunk)
        return chunk

    def close(self) -> None:
        """See PEP 3333."""
        try:
            close = getattr(self._source, "close", None)
            if close is not None:
                close()
        finally:
            self._exchange.report()


class _SizedCopiedChunks(_CopiedChunks):
    """Copied chunks whose number is known: if there is only one, servers compute `Content-Length`."""

    def __len__(self) -> int:
        return len(cast(Sized, self._source))
