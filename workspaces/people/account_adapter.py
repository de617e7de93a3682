"""The hub's answers to allauth about accounts: who signs up, what is recorded, and how mail is sent."""

from __future__ import annotations

import logging
import threading
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import record_authentication
from allauth.core import context as allauth_context
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.forms import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from wire.request_context import current_client_address
from workspaces.people.account_audit import ACCOUNT_ACTIONS, find_account, record_account_action, record_failed_sign_in
from workspaces.people.address_spellings import normalize_address
from workspaces.people.attempt_limits import ACCOUNT_MINUTES
from workspaces.people.errors import TooManyAttempts
from workspaces.people.verified_addresses import find_known_spelling

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
            raise TooManyAttempts(60 * ACCOUNT_MINUTES)
        error: ValidationError = super().validation_error(code, *args)
        return error

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the key by which guesses are counted: the account, however it was named, or the unknown name."""
        name = (credentials.get("email") or credentials.get("username") or "").strip()
        user = find_account(name)
        return f"account {user.pk}" if user else f"name {name.casefold()}"

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the user with this password. They may spell the domain of their address in Unicode or in ASCII."""
        names = {name: text for name, text in credentials.items() if name in ("email", "username") and "@" in text}
        spellings = {name: find_known_spelling(text) for name, text in names.items()}
        user: User | None = super().authenticate(request, **{**credentials, **spellings})
        return user

    def clean_email(self, email: str) -> str:
        """Return the spelling by which allauth finds the account whose password is to be reset."""
        return find_known_spelling(email)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        record_failed_sign_in(credentials.get("username") or credentials.get("email") or "", now=timezone.now())

    def login(self, request: HttpRequest, user: User) -> None:
        request.session.set_expiry(settings.SESSION_COOKIE_AGE)
        super().login(request, user)
        # Somebody who has just signed in need not sign in again before changing a second factor.
        record_authentication(request, user, method="sign-in", reauthenticated=True)
        record_account_action(user, "signed in", now=timezone.now())

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return how this person can confirm who they are: not by a password if nobody can sign in with one."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [method for method in methods if method["id"] != "reauthenticate" or not settings.OIDC_ONLY]

    def is_reauthentication_required(self, **options: Any) -> bool:
        """Return whether a change of second factors may need confirming; not for those who have no way to confirm."""
        methods = self.get_reauthentication_methods(allauth_context.request.user)
        return bool(methods) and bool(super().is_reauthentication_required(**options))

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
        email = normalize_address(email)  # Django would send mail for straße.example to strasse.example
        members = {"request": allauth_context.request, "email": email, **context}
        message = self.render_mail(template_prefix, email, members)
        threading.Thread(target=_send_mail, args=[message], name=MAIL_THREAD, daemon=True).start()


def _send_mail(message: EmailMessage) -> None:
    try:
        message.send()
    except (OSError, SMTPException) as error:
        log.error("mail could not be sent: %s", type(error).__name__)
