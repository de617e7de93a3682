"""Who may sign in through the OpenID Connect provider, as allauth asks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.base import AuthError
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from requests import RequestException, Session

from workspaces.people.account_audit import record_account_action
from workspaces.people.errors import ProviderUnavailable, SignInFailed, SignInRefused
from workspaces.people.invitations.accept import create_invited_user
from workspaces.people.invitations.invite import has_open_invitation
from workspaces.people.single_sign_on.provider_requests import open_session
from workspaces.people.single_sign_on.token_request import quote_reason
from workspaces.people.verified_addresses import follow_vouched_address, list_users_of

OIDC_PROVIDER_ID = "oidc"
log = logging.getLogger("affidavit.people")
# Not by INSTALLED_APPS: every process of the hub would load the HTTP client that only signing in needs.
registry.register(OpenIDConnectProvider)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """The OpenID Connect provider may sign in people with a verified address and an account or an invitation."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        if not settings.OIDC_ISSUER or provider not in {None, "openid_connect", OIDC_PROVIDER_ID}:
            return []
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=OIDC_PROVIDER_ID,
                name=settings.OIDC_NAME,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET,
                settings={"server_url": settings.OIDC_ISSUER, "oauth_pkce_enabled": True},
            )
        ]

    def get_requests_session(self) -> Session:
        return open_session()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        return True

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """Return the account whose verified address the provider has verified too."""
        addresses = [address.email for address in sociallogin.email_addresses if address.verified]
        accounts = ((user, address) for address in addresses for user in list_users_of(address).order_by("pk"))
        return next(accounts, None)

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Make the account of somebody who was invited. An account loses its password at its first single sign-on.

        Raises SignInRefused.
        """
        address = next((address.email for address in sociallogin.email_addresses if address.verified), None)
        if not sociallogin.email_addresses:
            raise SignInRefused(
                f"{settings.OIDC_NAME} does not send your e-mail address. Add it there, or ask its administrator."
            )
        if address is None:
            raise SignInRefused(
                f"{settings.OIDC_NAME} does not say that your e-mail address is verified. Verify it there, or ask "
                "its administrator."
            )
        now = timezone.now()
        if sociallogin.is_existing:
            if not sociallogin.account.pk:
                self._remove_password(sociallogin.user)
            follow_vouched_address(sociallogin.user, address)  # the person may have another one than before
        elif has_open_invitation(address, now=now):
            sociallogin.connect(request, create_invited_user(address, now=now))
        else:
            raise SignInRefused(f"Nobody has invited {address} to this hub. Ask an admin of your workspace to do so.")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: Mapping[str, Any] | None = None,
    ) -> NoReturn:
        if isinstance(exception, ImmediateHttpResponse):
            raise exception
        if isinstance(exception, RequestException):
            log.warning("the OpenID Connect provider cannot be used: %s", exception)
            raise ProviderUnavailable
        if exception is None and "state" not in (extra_context or {}):
            raise SignInFailed("The answer of the sign-in service does not fit this browser's request. Start again.")
        reason = exception or f"the provider answered{quote_reason(request.GET) or ' without a code'}"
        log.warning("signing in by OpenID Connect failed: %s", reason)
        if error == AuthError.CANCELLED:  # providers say this as well of somebody who may not use this hub
            raise SignInFailed(
                f"You cancelled signing in, or {settings.OIDC_NAME} does not let you in here. Start again, or ask its "
                "administrator."
            )
        raise SignInFailed(
            f"The hub cannot use the answer of {settings.OIDC_NAME}. Start again. If that does not help, ask whoever "
            "runs this hub: its log says why."
        )

    def _remove_password(self, user: User) -> None:
        """Remove the password: somebody else may have set it, and the provider now vouches for the person."""
        if user.has_usable_password():
            user.set_unusable_password()
            user.save(update_fields=["password"])
            record_account_action(user, "password removed", {"because": "single sign-on"}, now=timezone.now())
