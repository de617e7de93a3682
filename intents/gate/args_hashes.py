"""Store an argsHash as a keyed hash. As long as pages show it, store it in encrypted form too.

If it were stored in plain text, trying out values would reveal arguments that have only a few possible values.
"""

from __future__ import annotations

from datetime import datetime

from cryptography.fernet import InvalidToken
from django.db.models import Q

from intents.models import Confirmation
from wire.at_rest.encryption import decrypt, encrypt
from wire.at_rest.keyed_hash import compute_hash, is_hash_of


def hash_args_hash(workspace_id: str, args_hash: str) -> str:
    """Return the keyed hash that a row stores of an argsHash: 64 hex digits."""
    return compute_hash(workspace_id, args_hash.encode()).hex()


def is_args_hash(stored_hash: str, workspace_id: str, args_hash: str) -> bool:
    """Return whether a row was written for this argsHash."""
    return is_hash_of(bytes.fromhex(stored_hash), workspace_id, args_hash.encode())


def encrypt_args_hash(args_hash: str) -> bytes:
    return encrypt(args_hash.encode())


def decrypt_args_hash(token: bytes) -> str:
    """Return the argsHash; empty if none of the encryption keys in the settings fits."""
    try:
        return decrypt(token).decode()
    except InvalidToken:
        return ""


def show_args_hash(confirmation: Confirmation, now: datetime) -> str:
    """Return the argsHash that an intent would be signed with; empty once the confirmation is no longer pending."""
    token = confirmation.encrypted_args_hash
    is_pending = confirmation.state_at(now) == Confirmation.PENDING
    return decrypt_args_hash(bytes(token)) if is_pending and token else ""


def forget_args_hashes(*, now: datetime) -> int:
    """Drop the argsHash of confirmations that expired, or whose decision took effect; return how many."""
    is_over = Q(expires_at__lte=now) | Q(effective_at__lte=now)
    return Confirmation.objects.filter(is_over, encrypted_args_hash__isnull=False).update(encrypted_args_hash=None)
