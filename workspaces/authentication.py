"""Authenticate the key in the header x-service-api-key, and put it on `request.auth` (contract §1)."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from affidavit import is_well_formed_key
from wire.http.problems import Problem
from workspaces.errors import ScopeMissing
from workspaces.keys.digest import find_secret_key, hash_key
from workspaces.keys.last_use import note_use
from workspaces.limits.limiter import limit_key
from workspaces.models import ApiKey

HEADER = "x-service-api-key"
FOUND_KEY = "affidavit.found_key"  # in the META of a request
CHALLENGE = {"WWW-Authenticate": f'ApiKey realm="affidavit", header="{HEADER}"'}


class ServiceKeyAuthentication(BaseAuthentication):
    """Authenticate a machine by its key. A request without a key is refused."""

    def authenticate(self, request: Request) -> tuple[Any, ApiKey | None]:
        key = authenticate_key(request._request)
        return key, key


class ServiceKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # it registers itself
    """Describe the key in /api/openapi.json."""

    target_class = ServiceKeyAuthentication
    name = "serviceKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}


class KeyHasScope(BasePermission):
    """Require that the key has the endpoint's `scope`; raises ScopeMissing."""

    def has_permission(self, request: Request, view: Any) -> bool:
        require_scope(key_of_request(request), view.scope)
        return True


def require_scope(key: ApiKey, scope: str) -> None:
    """Raise ScopeMissing if the key lacks the scope."""
    if scope not in key.scopes:
        raise ScopeMissing(f"This needs a key with the scope `{scope}`: use another of the workspace's keys.")


def key_of_request(request: Request) -> ApiKey:
    """Return the key that ServiceKeyAuthentication has put on the request."""
    return cast(ApiKey, request.auth)


def authenticate_key(request: HttpRequest) -> ApiKey:
    """Return the secret key that the request names, and count the request.

    Raises Problem 401 or 403, or RateLimited.
    """
    key = find_request_key(request)
    limit_key(key.pk)
    return key


def find_request_key(request: HttpRequest) -> ApiKey:
    """Return the secret key that the request names, looked up once for each request; raises Problem 401 or 403."""
    if FOUND_KEY not in request.META:
        try:
            request.META[FOUND_KEY] = _look_up_key(request.headers.get(HEADER, ""))
        except Problem as problem:
            request.META[FOUND_KEY] = problem
    found_key = request.META[FOUND_KEY]
    if isinstance(found_key, Problem):
        raise found_key
    return cast(ApiKey, found_key)


def _look_up_key(header_value: str) -> ApiKey:
    if not header_value:
        raise _unauthorized_problem("missing-api-key", f"Send a secret key (gak_…) in the header {HEADER}.")
    if header_value.startswith("pk_"):
        detail = "Publishable keys (pk_…) are for browsers. Send a secret key (gak_…) from your backend."
        raise Problem("publishable-key-refused", detail)
    if not is_well_formed_key(header_value):
        detail = "The key is mistyped or cut off: its check digits do not fit. Copy it again."
        raise _unauthorized_problem("invalid-api-key", detail)
    now = timezone.now()
    key = find_secret_key(hash_key(header_value))
    if key is None:
        detail = "The key is unknown or was revoked. Use another, or create one on the page of keys."
        raise _unauthorized_problem("invalid-api-key", detail)
    if key.expires_at is not None and key.expires_at <= now:
        detail = f"The key expired at {key.expires_at:%Y-%m-%d %H:%M} UTC. Create another on the page of keys."
        raise _unauthorized_problem("invalid-api-key", detail)
    note_use(key, now=now)
    return key


def _unauthorized_problem(code: str, detail: str) -> Problem:
    return Problem(code, detail, headers=CHALLENGE)


class KeyOrSession(ServiceKeyAuthentication):
    """Authenticate by the key if one was sent, else by the session."""

    def authenticate(self, request: Request) -> tuple[Any, ApiKey | None]:
        user = request._request.user
        if HEADER not in request.headers and user.is_authenticated:
            return user, None
        return super().authenticate(request)


class KeyOrSessionScheme(ServiceKeyScheme):  # type: ignore[no-untyped-call]
    """Describe the same header; a signed-in browser needs none."""

    target_class = KeyOrSession
    name = "serviceKeyOrSession"


class KeyHasScopeOrSession(KeyHasScope):
    """Require that a key has the endpoint's `scope`; a session needs none."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.auth is None or super().has_permission(request, view)
