"""From the header x-service-api-key to a key on `request.auth` (contract 1)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from affidavit import is_well_formed_key
from wire.http.problems import Problem
from workspaces.api_key_lookup import live_key
from workspaces.create import key_digest
from workspaces.models import ApiKey

HEADER = "x-service-api-key"
CHALLENGE = {"WWW-Authenticate": f'ApiKey realm="affidavit", header="{HEADER}"'}


class ServiceKeyAuthentication(BaseAuthentication):
    """Every machine endpoint's authentication; never anonymous."""

    def authenticate(self, request: Request) -> tuple[ApiKey, ApiKey]:
        key = secret_key(request.headers.get(HEADER, ""))
        return key, key


class ServiceKeyScheme(OpenApiAuthenticationExtension):
    """How /api/openapi.json tells of the key."""

    target_class = ServiceKeyAuthentication
    name = "serviceKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}


class KeyHasScope(BasePermission):
    """The endpoint's `scope` must be among the key's; raises Problem 403 `scope-missing`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if view.scope in request.auth.scopes:
            return True
        detail = f"This endpoint needs a key with the scope `{view.scope}`: use another of the workspace's keys."
        raise Problem("scope-missing", detail)


def secret_key(given: str) -> ApiKey:
    """The live secret key behind a header's text; raises Problem 401 or 403."""
    if not given:
        raise refused("missing-api-key", f"Send a secret key (gak_…) in the header {HEADER}.")
    if given.startswith("pk_"):
        detail = "Publishable keys (pk_…) are for browsers. Send a secret key (gak_…) from your backend."
        raise Problem("publishable-key-refused", detail)
    if not is_well_formed_key(given):
        raise refused("invalid-api-key", "The key is mistyped or cut off: its check digits do not fit. Copy it again.")
    key = live_key(key_digest(given))
    if key is None:
        detail = "The key is unknown or was revoked. Use one that was shown when its workspace was made."
        raise refused("invalid-api-key", detail)
    return key


def refused(code: str, detail: str) -> Problem:
    return Problem(code, detail, headers=CHALLENGE)


class KeyOrSession(ServiceKeyAuthentication):
    """A secret key where one is sent, else whoever is signed in."""

    def authenticate(self, request: Request) -> tuple[Any, ApiKey | None]:
        user = request._request.user
        if HEADER not in request.headers and user.is_authenticated:
            return user, None
        return super().authenticate(request)


class KeyOrSessionScheme(ServiceKeyScheme):
    """The same header; a signed-in browser needs none."""

    target_class = KeyOrSession
    name = "serviceKeyOrSession"


class KeyHasScopeOrSession(KeyHasScope):
    def has_permission(self, request: Request, view: Any) -> bool:
        return request.auth is None or super().has_permission(request, view)
