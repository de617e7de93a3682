"""allauth's forms for codes, changed so that a code of an authenticator app works once as long as it is valid.

allauth remembers a used code for one period, but accepts it for longer if the tolerance is not 0 (RFC 6238, 5.2).
"""

from __future__ import annotations

from allauth.mfa import app_settings
from allauth.mfa.base import forms
from allauth.mfa.models import Authenticator
from django.core.cache import cache


def remember_used_code(authenticator: Authenticator, code: str) -> None:
    """Remember a used code of an authenticator app until no clock makes it valid."""
    periods = 2 * app_settings.TOTP_TOLERANCE + 1
    cache.set(authenticator.wrap()._get_used_cache_key(code), "y", timeout=periods * app_settings.TOTP_PERIOD)


class SignInCodeForm(forms.AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    def clean_code(self) -> str:
        return _clean_code(self, super().clean_code())


class ConfirmCodeForm(forms.ReauthenticateForm):  # type: ignore[misc]
    def clean_code(self) -> str:
        return _clean_code(self, super().clean_code())


def _clean_code(form: forms.BaseAuthenticateForm, code: str) -> str:
    if form.authenticator.type == Authenticator.Type.TOTP:
        remember_used_code(form.authenticator, code)
    return code
