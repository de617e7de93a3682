"""Encrypt stored secrets with Fernet, under a key from SECRET_KEY. Keys from SECRET_KEY_FALLBACKS still decrypt."""

from __future__ import annotations

import base64
import functools

from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def encrypt(plain: bytes) -> bytes:
    return build_cipher(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).encrypt(plain)


def decrypt(token: bytes) -> bytes:
    """Return the plain text. Raises cryptography.fernet.InvalidToken if no key of the settings fits."""
    return build_cipher(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).decrypt(token)


@functools.lru_cache(maxsize=4)
def build_cipher(*secret_keys: str) -> MultiFernet:
    return MultiFernet([Fernet(derive_key(secret_key)) for secret_key in secret_keys])


def derive_key(secret_key: str) -> bytes:
    derivation = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=b"affidavit secrets at rest")
    return base64.urlsafe_b64encode(derivation.derive(secret_key.encode()))
