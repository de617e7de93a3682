"""Secrets at rest: Fernet under keys derived from SECRET_KEY, rotated by SECRET_KEY_FALLBACKS."""

import base64
import functools

from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def sealed(plain: bytes) -> bytes:
    return cipher(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).encrypt(plain)


def opened(token: bytes) -> bytes:
    """Raises cryptography.fernet.InvalidToken where no key of the settings fits."""
    return cipher(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).decrypt(token)


@functools.lru_cache(maxsize=4)
def cipher(*secret_keys: str) -> MultiFernet:
    return MultiFernet([Fernet(derived(key)) for key in secret_keys])


def derived(secret_key: str) -> bytes:
    derivation = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=b"affidavit secrets at rest")
    return base64.urlsafe_b64encode(derivation.derive(secret_key.encode()))
