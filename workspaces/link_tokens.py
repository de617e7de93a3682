"""The secret part of a link: random, and stored as a digest only."""

from __future__ import annotations

import hashlib
import secrets


def make_token() -> str:
    """Return 256 random bits as text for an address."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> bytes:
    """Return the SHA-256 by which a link is looked up: how long a look-up takes says nothing about the token itself."""
    return hashlib.sha256(token.encode()).digest()
