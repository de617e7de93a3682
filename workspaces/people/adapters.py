"""The hub's answers to allauth: who may sign in, what is recorded, and how secrets are stored."""

from __future__ import annotations

import base64
import logging
import secrets
import threading
from collections.abc import Mapping
from smtplib import SMTPException
from typing import Any, NoReturn

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress
from allauth.core import context as allauth_context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.forms import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from requests import RequestException, Session

from wire.redelivery.encryption import decrypt, encrypt
from wire.request_context import current_client_address
from workspaces.people.account_audit import find_account, record_account_action, record_failed_sign_in
from workspaces.people.errors import ProviderUnavailable, SignInFailed, SignInRefused, TooManyAttempts
from workspaces.people.invitations.invite import add_vouched_address, create_invited_user, has_open_invitation
from workspaces.people.provider_requests import open_session

OIDC_PROVIDER_ID = "oidc"
ACCOUNT_LIMIT_SECONDS = 300
# Changes of an account as the audit log names them, by the template of allauth's mail about them.
ACCOUNT_ACTIONS: Mapping[str, str] = {
    "account/email/password_changed": "password changed",
    "account/email/password_set": "password set",
    "account/email/password_reset": "password reset",
    "mfa/email/totp_activated": "second factor added",
    "mfa/email/totp_deactivated": "second factor removed",
    "mfa/email/webauthn_added": "second factor added",
    "mfa/email/webauthn_removed": "second factor removed",
    "mfa/email/recovery_codes_generated": "recovery codes made",
    "socialaccount/email/account_connected": "single sign-on connected",
}
MAIL_THREAD = "affidavit-mail"
log = logging.getLogger("affidavit.people")


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Accounts come from invitations only; sign-ins and changes of an account are recorded."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "Wrong user name or password.",
        "email_password_mismatch": "Wrong e-mail address or password.",
        "invalid_login": "Wrong user name or password.",
        "incorrect_password": "Wrong password.",
        "enter_current_password": "Wrong password.",
        "incorrect_code": "Wrong code. Codes change every 30 seconds.",
        "invalid_password_reset": "This link no longer works. Ask for a new one.",
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        return current_client_address.get() or "unknown"

    def is_ajax(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str) -> bool:
        """Return whether to redirect to this address; False for a text that is no URL, at which allauth fails."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        if code in {"too_many_login_attempts", "rate_limited"}:
            raise TooManyAttempts(ACCOUNT_LIMIT_SECONDS)
        error: ValidationError = super().validation_error(code, *args)
        return error

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the key by which guesses are counted: the account, however it was named, or the unknown name."""
        name = (credentials.get("email") or credentials.get("username") or "").strip()
        user = find_account(name)
        return f"account {user.pk}" if user else f"name {name.casefold()}"

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        record_failed_sign_in(credentials.get("username") or credentials.get("email") or "", now=timezone.now())

    def login(self, request: HttpRequest, user: User) -> None:
        request.session.set_expiry(settings.SESSION_COOKIE_AGE)
        super().login(request, user)
        # Somebody who has just signed in need not sign in again before changing a second factor.
        record_authentication(request, user, method="sign-in", reauthenticated=True)
        record_account_action(user, "signed in", now=timezone.now())

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return f"{reverse('account')}?done=password"

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Record the change of an account about which allauth would send a mail. Send no mail."""
        if template_prefix in ACCOUNT_ACTIONS:
            record_account_action(user, ACCOUNT_ACTIONS[template_prefix], now=timezone.now())

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail in the background: neither what the mail server answers nor how fast may change our answer.

        It would reveal which addresses have accounts.
        """
        members = {"request": allauth_context.request, "email": email, **context}
        message = self.render_mail(template_prefix, email, members)
        threading.Thread(target=_send_mail, args=[message], name=MAIL_THREAD, daemon=True).start()


def _send_mail(message: EmailMessage) -> None:
    try:
        message.send()
    except (OSError, SMTPException) as error:
        log.error("mail could not be sent: %s", type(error).__name__)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Seeds of authenticator apps and recovery codes are encrypted at rest."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "Wrong code. Codes change every 30 seconds.",
    }

    def get_totp_issuer(self) -> str:
        return "Affidavit"

    def _get_site_name(self) -> str:
        return "Affidavit"

    def generate_authenticator_name(self, user: User, type: str) -> str:
        return "Passkey"

    def encrypt(self, text: str) -> str:
        return encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return the text; a random one, which no code fits, if no key of the settings decrypts it."""
        try:
            return decrypt(encrypted_text.encode()).decode()
        except InvalidToken:  # SECRET_KEY was lost: the person must be able to remove the second factor
            return base64.b32encode(secrets.token_bytes(20)).decode()


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
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
        verified_addresses = EmailAddress.objects.filter(email__in=addresses, verified=True)
        address = verified_addresses.select_related("user").first()
        return (address.user, address.email) if address else None

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
            add_vouched_address(sociallogin.user, address)  # the person may have another one than before
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
        if error == AuthError.CANCELLED:
            raise SignInFailed("You cancelled signing in. Start again when you like.")
        log.warning("signing in by OpenID Connect failed: %s", exception or error)
        raise SignInFailed("The answer of the sign-in service does not fit this browser's request. Start again.")

    def _remove_password(self, user: User) -> None:
        """Remove the password: somebody else may have set it, and the provider now vouches for the person."""
        if user.has_usable_password():
            user.set_unusable_password()
            user.save(update_fields=["password"])
            record_account_action(user, "password removed", {"because": "single sign-on"}, now=timezone.now())
