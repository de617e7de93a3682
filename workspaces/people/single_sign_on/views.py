"""Go to the OpenID Connect provider, and come back from it."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from workspaces.people.next_address import find_next_address
from workspaces.people.single_sign_on.code_flow import complete_sign_in, redirect_to_provider


@never_cache
def sign_in_by_oidc(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Go to the provider. A link leads here: `form-action` in the security policy would stop a form's redirect."""
    if not settings.OIDC_ISSUER:
        raise Http404
    return redirect_to_provider(request, target=find_next_address(request))


@never_cache
def oidc_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    return complete_sign_in(request)
