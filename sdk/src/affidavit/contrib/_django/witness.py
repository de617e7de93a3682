"""Observe the requests and responses of a Django site (contract §4)."""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, cast
from urllib.parse import quote

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, URLPattern, URLResolver, get_resolver
from django.urls.resolvers import LocalePrefixPattern, RegexPattern, RoutePattern
from django.utils.module_loading import import_string

from affidavit._shapes.media_types import is_json
from affidavit._witness.bodies import BodyCopy, CopiedBody, FormCopy, Unread, choose_type, is_readable, open_copy
from affidavit._witness.witness import Witness
from affidavit.contrib._asgi.routes import has_mount_parameter
from affidavit.contrib._tee import Tee
from affidavit.contrib._wsgi.environ import read_body_type

_PREFIX = "_affidavit_prefix"
_FIXED_TEXTS = frozenset(pattern.__str__ for pattern in (LocalePrefixPattern, RegexPattern, RoutePattern))


class WitnessMiddleware:
    """Let the witness of the settings observe the traffic of the views. It neither changes nor delays the traffic.

    Put this middleware first. Requests without a route are not observed. A streaming response is reported without its
    shape.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._witness = _load_witness()
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Return the response of the site, or a coroutine for it."""
        note_prefix(request)
        if self._is_async:
            return self._call_async(request)
        copy = self._copy_body(request)
        try:
            response = self._get_response(request)
        except Exception:  # reported as a 500, and raised again
            self._report(request, copy, None)
            raise
        self._report(request, copy, response)
        return response

    async def _call_async(self, request: HttpRequest) -> Any:
        copy = self._copy_body(request)
        try:
            response = await self._get_response(request)
        except Exception:  # reported as a 500, and raised again
            self._report(request, copy, None)
            raise
        self._report(request, copy, response)
        return response

    def _copy_body(self, request: HttpRequest) -> BodyCopy | None:
        """Return a copy of the body that fills while the view reads it, in whichever way Django offers."""
        source, content_type = getattr(request, "_stream", None), request.META.get("CONTENT_TYPE") or ""
        if source is None or not is_readable(content_type):
            return None
        copy = open_copy(content_type, self._witness.max_body)
        request._stream = Tee(source, copy)  # type: ignore[assignment]  # it stands in for the stream
        return copy

    def _report(self, request: HttpRequest, copy: BodyCopy | None, response: Any) -> None:
        """Report the exchange.

        response: None if the site raised, so that the server sends a 500.
        """
        with suppress(Exception):  # observing must not break the response
            match = request.resolver_match
            if match is None:
                return
            headers = response.headers if isinstance(response, HttpResponseBase) else {}
            method, status = request.method or "", getattr(response, "status_code", 500)
            route = _find_route(request, match)
            request_type = read_body_type(request.META)
            response_type = choose_type(headers.get("Content-Type"), headers.get("Content-Length"))
            if self._witness.settles(
                method, lambda: _quote_path(request), status, route,
                request_content_type=request_type, response_content_type=response_type,
            ):  # fmt: skip
                return
            self._witness.observe(
                method, _quote_path(request), status,
                route=route,
                query=request.META.get("QUERY_STRING", ""),
                request_body=_finish_request_body(request, copy) if request_type else None,
                request_content_type=request_type,
                request_encoding=request.META.get("HTTP_CONTENT_ENCODING"),
                response_body=_read_response_body(response) if response_type else None,
                response_content_type=response_type,
                response_encoding=headers.get("Content-Encoding"),
            )  # fmt: skip


def _load_witness() -> Witness:
    setting = getattr(settings, "AFFIDAVIT_WITNESS", None)
    witness = import_string(setting) if isinstance(setting, str) else setting
    if not isinstance(witness, Witness):
        raise ImproperlyConfigured("AFFIDAVIT_WITNESS has to be an affidavit.Witness, or the dotted path of one")
    return witness


def _quote_path(request: HttpRequest) -> str:
    return quote(request.path, errors="replace")


def _find_route(request: HttpRequest, match: ResolverMatch) -> str | None:
    prefix = find_prefix(request)
    return None if prefix is None else f"{prefix}/{match.route.removeprefix('/')}"


def note_prefix(request: HttpRequest) -> None:
    """Note the mount prefix that the server gave, before other middleware changes it."""
    if not hasattr(request, _PREFIX):
        setattr(request, _PREFIX, request.META.get("SCRIPT_NAME", ""))


def find_prefix(request: HttpRequest) -> str | None:
    """Return the mount prefix of the site; None if it, or the route, may have a value.

    It may if middleware took more from the path, if a mount of Starlette around the site has a parameter, or if the
    routes are made for each tenant, as those of django-tenants are.
    """
    prefix, scope = request.path.removesuffix(request.path_info), getattr(request, "scope", None)
    if (scope is not None and has_mount_parameter(scope)) or not _has_fixed_routes(request):
        return None
    note_prefix(request)
    return prefix if prefix in ("", getattr(request, _PREFIX).rstrip("/")) else None


def _has_fixed_routes(request: HttpRequest) -> bool:
    """Return whether the routes are those of a module, and not made for this request."""
    urls = getattr(request, "urlconf", None)
    is_named = urls is None or isinstance(urls, str) or sys.modules.get(getattr(urls, "__name__", "")) is urls
    return is_named and not _has_computed_pattern(get_resolver(urls))


@lru_cache(maxsize=64)
def _has_computed_pattern(resolver: URLResolver) -> bool:
    """Return whether a route depends on more than the source and the language."""
    nodes: list[URLResolver | URLPattern] = [resolver]
    while nodes:
        node = nodes.pop()
        if type(node.pattern).__str__ not in _FIXED_TEXTS:
            return True
        nodes += getattr(node, "url_patterns", ())
    return False


def _finish_request_body(request: HttpRequest, copy: BodyCopy | None) -> CopiedBody:
    if copy is None:
        return Unread.NOT_JSON
    if hasattr(request, "_body") and not (isinstance(copy, FormCopy) and copy.size):
        body: bytes = request._body
        return body
    length = request.META.get("CONTENT_LENGTH") or ""
    copy.is_whole = copy.is_whole or length == str(copy.size)
    return copy.finish()


def _read_response_body(response: Any) -> CopiedBody:
    if not isinstance(response, HttpResponseBase) or "Content-Type" not in response.headers:
        return None
    if not is_json(response.headers["Content-Type"]):
        return Unread.NOT_JSON
    return Unread.INCOMPLETE if response.streaming else cast(HttpResponse, response).content
