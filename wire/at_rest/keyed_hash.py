"""Stored hashes of values that could be guessed: HMAC under keys derived from SECRET_KEY.

Whoever has only a copy of the database cannot test a guess. A hash made under an earlier SECRET_KEY matches as long as
that key is among SECRET_KEY_FALLBACKS.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Sequence

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def compute_hash(workspace_id: str, value: bytes) -> bytes:
    """Return the hash of a value under the newest key, 32 bytes. It differs from workspace to workspace."""
    return list_hashes(workspace_id, value)[0]


def is_hash_of(stored_hash: bytes, workspace_id: str, value: bytes) -> bool:
    """Return whether this is the hash of a value under any of the keys."""
    return any(hmac.compare_digest(stored_hash, candidate) for candidate in list_hashes(workspace_id, value))


def list_hashes(workspace_id: str, value: bytes) -> Sequence[bytes]:
    """Return the hashes of a value under every key, the newest key first: any of them may be stored."""
    message = workspace_id.encode() + b"\0" + value
    secret_keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [hmac.digest(_derive_key(secret_key), message, hashlib.sha256) for secret_key in secret_keys]


@functools.lru_cache(maxsize=16)
def _derive_key(secret_key: str) -> bytes:
    derivation = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=b"affidavit hashes at rest")
    return derivation.derive(secret_key.encode())
