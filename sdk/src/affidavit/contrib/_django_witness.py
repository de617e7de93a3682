"""The shapes of what a Django site answers (contract 4)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from affidavit._witness.bodies import BodyCopy, CopiedBody, Unread, is_json
from affidavit._witness.witness import Witness
from affidavit.contrib._tee import Tee


class WitnessMiddleware:
    """Tells the witness of the settings what the views are asked and answer, and changes and delays none of it.

    Put it first. What no route leads to is not seen. A streaming response is told without its shape.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._witness = _configured()
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """The response of the rest of the site, or a coroutine for it."""
        if self._is_async:
            return self._awaited(request)
        copy = self._copied(request)
        try:
            response = self._get_response(request)
        except Exception:  # whatever the site raised is told as a 500, and goes on
            self._tell(request, copy, None)
            raise
        self._tell(request, copy, response)
        return response

    async def _awaited(self, request: HttpRequest) -> Any:
        copy = self._copied(request)
        try:
            response = await self._get_response(request)
        except Exception:  # whatever the site raised is told as a 500, and goes on
            self._tell(request, copy, None)
            raise
        self._tell(request, copy, response)
        return response

    def _copied(self, request: HttpRequest) -> BodyCopy | None:
        """A copy of the body that is made while the view reads it, by whichever of Django's ways."""
        source = getattr(request, "_stream", None)
        if source is None or not is_json(request.META.get("CONTENT_TYPE") or ""):
            return None
        copy = BodyCopy(self._witness.max_body)
        request._stream = Tee(source, copy)
        return copy

    def _tell(self, request: HttpRequest, copy: BodyCopy | None, response: Any) -> None:
        """response: None if the site raised, of which the server makes a 500."""
        with suppress(Exception):  # whatever the site answers, it must not fail because it was watched
            if request.resolver_match is None:
                return
            headers = response.headers if isinstance(response, HttpResponseBase) else {}
            self._witness.observe(
                request.method, quote(request.path, errors="replace"), getattr(response, "status_code", 500),
                route=_route(request),
                query=request.META.get("QUERY_STRING", ""),
                request_body=_request_body(request, copy),
                request_content_type=request.META.get("CONTENT_TYPE"),
                request_encoding=request.META.get("HTTP_CONTENT_ENCODING"),
                response_body=_response_body(response),
                response_content_type=headers.get("Content-Type"),
                response_encoding=headers.get("Content-Encoding"),
            )  # fmt: skip


def _configured() -> Witness:
    known = getattr(settings, "AFFIDAVIT_WITNESS", None)
    witness = import_string(known) if isinstance(known, str) else known
    if not isinstance(witness, Witness):
        raise ImproperlyConfigured("AFFIDAVIT_WITNESS has to be an affidavit.Witness, or the dotted path of one")
    return witness


def _route(request: HttpRequest) -> str:
    prefix = request.path.removesuffix(request.path_info)
    return f"{prefix}/{request.resolver_match.route.removeprefix('/')}"


def _request_body(request: HttpRequest, copy: BodyCopy | None) -> CopiedBody:
    if copy is None:
        return Unread.NOT_JSON if request.META.get("CONTENT_TYPE") else None
    if hasattr(request, "_body"):
        read: bytes = request._body
        return read
    length = request.META.get("CONTENT_LENGTH") or ""
    copy.is_whole = copy.is_whole or length == str(copy.size)
    return copy.finish()


def _response_body(response: Any) -> CopiedBody:
    if not isinstance(response, HttpResponseBase) or "Content-Type" not in response.headers:
        return None
    if not is_json(response.headers["Content-Type"]):
        return Unread.NOT_JSON
    return Unread.INCOMPLETE if response.streaming else response.content
