"""allauth's forms for passkeys, changed so that a malformed answer of a device is a fault of the form, not an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms
from django.forms import ValidationError

from wire.errors import DomainError

T = TypeVar("T")
REFUSAL = "The answer of your device cannot be used. Try again."


def refuse_malformed(check: Callable[[], T]) -> T:
    """Return the result of `check`. Turn every error of parsing the answer into a ValidationError."""
    try:
        return check()
    except (ValidationError, DomainError):
        raise
    except Exception as error:  # parsers of CBOR and keys have no common error, nor has a wrong signature
        raise ValidationError(REFUSAL) from error


class AddPasskeyForm(forms.AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    def clean(self) -> dict[str, Any]:
        return refuse_malformed(super().clean)


class SignInPasskeyForm(forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    def clean_credential(self) -> Authenticator:
        return refuse_malformed(super().clean_credential)


class ConfirmPasskeyForm(forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    def clean_credential(self) -> Authenticator:
        return refuse_malformed(super().clean_credential)
