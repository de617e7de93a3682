"""The hub's answers to allauth about second factors: their names, and how their secrets are stored."""

from __future__ import annotations

import base64
import secrets

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import InvalidToken
from django.contrib.auth.models import User

from wire.at_rest.encryption import decrypt, encrypt


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
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
