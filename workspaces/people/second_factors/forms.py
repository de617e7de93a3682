"""allauth's forms for second factors, changed in three ways.

A malformed answer of a passkey's device is a fault of the form, not an error. A code of an authenticator app works once
as long as it is valid: allauth remembers a used code for one period, but accepts it for longer if the tolerance is not
0 (RFC 6238, section 5.2). Whoever has a second factor that the hub cannot decrypt is told so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from allauth.mfa import app_settings
from allauth.mfa.base import forms as code_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as passkey_forms
from cryptography.fernet import InvalidToken
from django.contrib.auth.models import User
from django.core.cache import cache
from django.forms import ValidationError

from wire.at_rest.encryption import decrypt
from wire.errors import DomainError

T = TypeVar("T")
UNREADABLE = (
    "This hub can no longer read your second factor, because its SECRET_KEY was replaced. Ask whoever runs the hub for "
    "a sign-in link, then remove the second factor and add it again."
)
REFUSAL = "The answer of your device cannot be used. Try again."


def refuse_malformed(check: Callable[[], T]) -> T:
    """Return the result of `check`. Turn every error of parsing the answer into a ValidationError."""
    try:
        return check()
    except (ValidationError, DomainError):
        raise
    except Exception as error:  # parsers of CBOR and keys have no common error, nor has a wrong signature
        raise ValidationError(REFUSAL) from error


class AddPasskeyForm(passkey_forms.AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    def clean(self) -> dict[str, Any]:
        return refuse_malformed(super().clean)


class SignInPasskeyForm(passkey_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    def clean_credential(self) -> Authenticator:
        return refuse_malformed(super().clean_credential)


class ConfirmPasskeyForm(passkey_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    def clean_credential(self) -> Authenticator:
        return refuse_malformed(super().clean_credential)


def remember_used_code(authenticator: Authenticator, code: str) -> None:
    """Remember a used code of an authenticator app until no clock makes it valid."""
    periods = 2 * app_settings.TOTP_TOLERANCE + 1
    cache.set(authenticator.wrap()._get_used_cache_key(code), "y", timeout=periods * app_settings.TOTP_PERIOD)


class SignInCodeForm(code_forms.AuthenticateForm):  # type: ignore[misc]
    def clean_code(self) -> str:
        return _clean_code(self, super().clean_code)


class ConfirmCodeForm(code_forms.ReauthenticateForm):  # type: ignore[misc]
    def clean_code(self) -> str:
        return _clean_code(self, super().clean_code)


def _clean_code(form: code_forms.BaseAuthenticateForm, check: Callable[[], str]) -> str:
    try:
        code = check()
    except ValidationError:
        if has_unreadable_factor(form.user, Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES):
            raise ValidationError(UNREADABLE) from None
        raise
    if form.authenticator.type == Authenticator.Type.TOTP:
        remember_used_code(form.authenticator, code)
    return code


def has_unreadable_factor(user: User, *types: str) -> bool:
    """Return whether no key of the settings decrypts an authenticator of this person, of one of these types."""
    rows = Authenticator.objects.filter(user=user, type__in=types).values_list("data", flat=True)
    tokens = [data[name] for data in rows for name in ("secret", "seed") if name in data]
    try:
        for token in tokens:
            decrypt(token.encode())
    except InvalidToken:
        return True
    return False
