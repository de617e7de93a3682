"""Which ways to sign in there are: a password, the OpenID Connect provider, or both."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponseBase

View = Callable[..., HttpResponseBase]


def describe_ways_in() -> dict[str, Any]:
    """Return the values with which a template offers the ways to sign in."""
    return {"oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "", "has_passwords": not settings.OIDC_ONLY}


def with_passwords(view: View) -> View:
    """Answer 404 from a page about passwords if nobody can sign in with a password."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.OIDC_ONLY:
            raise Http404
        return view(request, *args, **kwargs)

    return wrapper
