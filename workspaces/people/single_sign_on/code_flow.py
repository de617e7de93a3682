"""Sign in by OpenID Connect: the code flow with PKCE, state and nonce; the identity token's signature is checked."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jwt
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from requests import RequestException

from workspaces.people.errors import ProviderUnavailable, SignInFailed
from workspaces.people.single_sign_on.discovery import fetch_discovery, fetch_json
from workspaces.people.single_sign_on.identity_token import decode_identity_token, describe_person
from workspaces.people.single_sign_on.provider_adapter import OIDC_PROVIDER_ID
from workspaces.people.single_sign_on.token_request import ProviderClient

log = logging.getLogger("affidavit.people")
# The errors that an unexpected answer of a provider raises; the last one is that of deeply nested JSON.
UNUSABLE_ANSWERS = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


class OpenIDAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
    """The OpenID Connect provider that the settings name.

    nonce: the value in this browser's request.
    """

    nonce = ""
    client_class = ProviderClient

    def __init__(self, request: HttpRequest, provider_id: str = OIDC_PROVIDER_ID) -> None:
        super().__init__(request, provider_id)

    @cached_property
    def openid_config(self) -> Mapping[str, Any]:
        return fetch_discovery(settings.OIDC_ISSUER)

    @property
    def basic_auth(self) -> bool:
        """Return whether the client's secret goes into the header, as it does if the provider does not say how."""
        methods = self.openid_config.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return "client_secret_post" not in methods and "client_secret_basic" in methods

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Return the person who signed in. Their e-mail address is from the identity token or the user information."""
        claims = self._decode_id_token(app, kwargs["response"]["id_token"])
        if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), self.nonce.encode()):
            raise OAuth2Error("the identity token has another nonce")
        if not {"email", "email_verified"} <= claims.keys() and "userinfo_endpoint" in self.openid_config:
            headers = {"Authorization": f"Bearer {token.token}"}
            information = fetch_json(self.openid_config["userinfo_endpoint"], headers)
            if information.get("sub") != claims["sub"]:
                raise OAuth2Error("the user information is about somebody else")
            claims = {**claims, **information}
        try:
            person = describe_person(claims)  # Only this much is stored, and no token.
        except jwt.PyJWTError as error:
            raise OAuth2Error(f"the identity token is not valid: {error}") from error
        # A subject names a person at its issuer only. The digest of both also fits into the column.
        subject = hashlib.sha256(json.dumps([settings.OIDC_ISSUER, person["sub"]]).encode()).hexdigest()
        response = {"userinfo": {**person, "sub": subject}}
        login: SocialLogin = self.get_provider().sociallogin_from_response(request, response)
        login.account.extra_data = {"userinfo": person}
        return login

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        key_set = fetch_json(self.openid_config["jwks_uri"])
        try:
            return decode_identity_token(
                id_token, key_set, client_id=app.client_id, issuer=self.openid_config["issuer"]
            )
        except jwt.PyJWTError as error:
            raise OAuth2Error(f"the identity token is not valid: {error}") from error


class CallbackView(OAuth2CallbackView):  # type: ignore[misc]
    """The view to which the provider sends the browser back."""

    def _get_state(self, request: HttpRequest, provider: Any) -> tuple[dict[str, Any] | None, HttpResponse | None]:
        state, response = super()._get_state(request, provider)
        if state:
            self.adapter.nonce = state["nonce"]
        return state, response


def redirect_to_provider(request: HttpRequest, *, target: str) -> HttpResponse:
    """Send the browser to the provider, and afterwards to `target`. Raises ProviderUnavailable."""
    provider = OpenIDAdapter(request).get_provider()
    provider.oauth2_adapter_class = OpenIDAdapter
    if not request.user.is_authenticated:
        request.session.set_expiry(statekit.STATE_TTL)  # signing in prolongs it; that of a stranger is soon deleted
    nonce = secrets.token_urlsafe(16)
    parameters = {**provider.get_auth_params(), "nonce": nonce}
    try:
        response: HttpResponse = provider.redirect(
            request, AuthProcess.LOGIN, next_url=target, auth_params=parameters, nonce=nonce
        )
    except (RequestException, *UNUSABLE_ANSWERS) as error:
        log.warning("the OpenID Connect provider cannot be used: %s", error)
        raise ProviderUnavailable from error
    return response


def complete_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in the person whom the provider's answer names. Raises SignInRefused, SignInFailed, ProviderUnavailable."""
    states = statekit.get_states(request)
    if request.user.is_authenticated and request.GET.get("state", "") not in states:
        return redirect("home")  # the back button led here, or another tab was quicker
    if not states:
        raise SignInFailed("This browser has not begun to sign in, or took more than ten minutes. Start again.")
    try:
        response: HttpResponse = CallbackView.adapter_view(OpenIDAdapter(request))(request)
    except (RequestException, *UNUSABLE_ANSWERS) as error:
        log.warning("the OpenID Connect provider cannot be used", exc_info=error)
        raise ProviderUnavailable from error
    return response
