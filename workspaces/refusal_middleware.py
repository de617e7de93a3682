"""Count the refused requests that came with the key of a workspace, wherever in the hub they were refused.

Every refusal is a FailureResponse, from REST framework's handler or from a middleware, and passes here. The request's
own transaction is over by then, so that its rollback takes no count away.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils import timezone

from affidavit import is_well_formed_key
from wire.http.problems import FailureResponse
from wire.http.request_metrics import METHODS
from wire.postgresql.sqlstates import find_sqlstate
from wire.request_context import current_client_address
from workspaces.address_limit_middleware import EXEMPT_PATHS
from workspaces.authentication import FOUND_KEY, HEADER
from workspaces.keys.digest import find_key_id, hash_key
from workspaces.limits.limiter import RateLimited, limit_address
from workspaces.models import ApiKey
from workspaces.refusals.counter import get_counter
from workspaces.refusals.record import record_refusals

NO_FAULTS = frozenset({"confirmation-required"})  # codes that also a correct client gets
CONVERTER = re.compile(r"<\w+:(\w+)>")
PAGES, UNKNOWN = "/w/…", "unknown address"  # each counts as one endpoint, so that nobody can make many rows
log = logging.getLogger("affidavit.refusals")


class RefusalCountMiddleware:
    """Count refusals of known keys; write the counts once a second at most, and never change an answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path not in EXEMPT_PATHS:
            try:
                if isinstance(response, FailureResponse) and response.status_code < 500:
                    _count_refusal(request, response.code)
                if not response.streaming:  # a download reads in a transaction that refuses to write
                    record_refusals(get_counter().take_due())
            except DatabaseError as error:
                name, state = type(error.__cause__ or error).__name__, find_sqlstate(error)
                log.warning("refused requests were not counted: %s", name, extra={"sqlstate": state})
        return response


def _count_refusal(request: HttpRequest, code: str) -> None:
    if HEADER in request.headers and code not in NO_FAULTS:
        key_id = _find_key_id(request, code)
        if key_id is not None:
            get_counter().add(key_id, name_endpoint(request), code, now=timezone.now())


def _find_key_id(request: HttpRequest, code: str) -> int | None:
    """Return the row id of the request's key, also if it is publishable, expired or revoked; None if it is unknown.

    If the address of the request is over its limit, the key is not looked up, so that strangers cannot make the hub
    read the database.
    """
    found_key = request.META.get(FOUND_KEY)
    if isinstance(found_key, ApiKey):
        return found_key.pk
    header_value = request.headers[HEADER]
    if code == RateLimited.code or not is_well_formed_key(header_value):
        return None
    if found_key is None:  # the request was refused before its address was counted
        try:
            limit_address(current_client_address.get())
        except RateLimited:
            return None
    return find_key_id(hash_key(header_value))


def name_endpoint(request: HttpRequest) -> str:
    """Return the method and the endpoint's address as the documentation has it, without any value of the request."""
    method = request.method if request.method in METHODS else "other"
    return f"{method} {_name_address(request)}"


def _name_address(request: HttpRequest) -> str:
    try:
        match = request.resolver_match or resolve(request.path_info)
    except Resolver404:
        return UNKNOWN
    if match.route.startswith("api/"):
        return "/" + CONVERTER.sub(r"{\1}", match.route)
    return PAGES if match.route.startswith("w/") else UNKNOWN
