"""Signatures of webhooks by the scheme of Standard Webhooks (https://www.standardwebhooks.com), pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
SECRET_BYTES = 32
SEPARATOR = " "  # between the secrets that are stored together; none contains it


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret_texts: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: one signature for each secret, separated by spaces."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_sign(secret, content)}" for secret in secret_texts)


def _sign(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
