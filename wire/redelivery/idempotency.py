"""Idempotency-Key on every POST (contract §1): the one mechanism, used by every machine endpoint.

A key is held by an advisory lock of the transaction that does the work, so that a crash releases it.
The answer is stored in the same transaction, so that either the work and its answer are stored, or neither.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cryptography.fernet import InvalidToken
from django.db import connection, transaction
from django.http import HttpResponse

from wire.at_rest.encryption import decrypt, encrypt
from wire.at_rest.keyed_hash import compute_hash, is_hash_of
from wire.batches import delete_batch
from wire.errors import DomainError
from wire.models import IdempotentAnswer

ANSWER_LIFETIME = timedelta(hours=24)
LONGEST_REQUEST = timedelta(minutes=10)  # more than any request takes from its beginning until its answer is stored
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")
STORED_HEADERS = ("Content-Type", "X-Outcomes-New", "Location")


class InvalidKey(DomainError):
    code = "invalid-idempotency-key"
    detail = "Send an Idempotency-Key of 1 to 255 visible ASCII characters, a UUID for example."


class KeyReused(DomainError):
    code = "idempotency-key-reused"
    # The stored hash of a body is keyed: without the SECRET_KEY of that time, no body fits it.
    detail = (
        "This Idempotency-Key was used with another body, or before the hub's SECRET_KEY was replaced. "
        "Use a fresh key for a different request."
    )


class KeyInUse(DomainError):
    code = "idempotency-key-in-use"
    detail = "The first request with this Idempotency-Key is still running. Send the same request again shortly."
    retry_after = 1


@dataclass(frozen=True)
class Claim:
    """The use of an Idempotency-Key by one request: its workspace, endpoint, key and the SHA-256 of its body."""

    workspace_id: str
    endpoint: str
    key: str
    body_digest: bytes

    @classmethod
    def check(cls, workspace_id: str, endpoint: str, key: str, body: bytes) -> Claim:
        """Return the claim of a request; raises InvalidKey."""
        if not VISIBLE_ASCII.fullmatch(key):
            raise InvalidKey
        return cls(workspace_id, endpoint, key, hashlib.sha256(body).digest())

    @property
    def lock_number(self) -> int:
        text = "\0".join((self.workspace_id, self.endpoint, self.key))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def answer_once(
    claim: Claim,
    act: Callable[[], HttpResponse],
    *,
    now: datetime,
    is_secret: bool,
    limit_lifetime: Callable[[HttpResponse], datetime | None] = lambda _: None,
) -> HttpResponse:
    """Replay the stored answer. If there is none, call `act`, and store its answer if that is a 2xx.

    is_secret: whether the answer holds a key or an intent and is therefore stored encrypted.
    limit_lifetime: returns when an answer expires, None for the usual 24 hours.

    Raises KeyReused or KeyInUse.
    """
    if answer := find_answer(claim, now):
        return replay_answer(claim, answer)
    with transaction.atomic():
        lock_key(claim)
        if answer := find_answer(claim, now):  # stored after the first look, before the lock
            return replay_answer(claim, answer)
        response = act()
        if 200 <= response.status_code < 300:
            latest = now + ANSWER_LIFETIME
            expires_at = min(limit_lifetime(response) or latest, latest)
            store_answer(claim, response, is_secret=is_secret, expires_at=expires_at)
        return response


def find_answer(claim: Claim, now: datetime) -> IdempotentAnswer | None:
    return IdempotentAnswer.objects.filter(
        workspace_id=claim.workspace_id, endpoint=claim.endpoint, key=claim.key, expires_at__gt=now
    ).first()


def lock_key(claim: Claim) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [claim.lock_number])
        (is_locked,) = cursor.fetchone()
    if not is_locked:
        raise KeyInUse


def replay_answer(claim: Claim, answer: IdempotentAnswer) -> HttpResponse:
    if not is_hash_of(bytes(answer.body_digest), claim.workspace_id, claim.body_digest):
        raise KeyReused
    body = decrypt(bytes(answer.body)) if answer.encrypted else bytes(answer.body)
    return HttpResponse(body, status=answer.status, headers={**answer.headers, "Idempotent-Replayed": "true"})


def store_answer(claim: Claim, response: HttpResponse, *, is_secret: bool, expires_at: datetime) -> None:
    body = bytes(response.content)
    IdempotentAnswer.objects.update_or_create(
        workspace_id=claim.workspace_id,
        endpoint=claim.endpoint,
        key=claim.key,
        defaults={
            "body_digest": compute_hash(claim.workspace_id, claim.body_digest),
            "status": response.status_code,
            "headers": {name: response[name] for name in STORED_HEADERS if name in response},
            "body": encrypt(body) if is_secret else body,
            "encrypted": is_secret,
            "expires_at": expires_at,
        },
    )


def delete_expired_answers(*, now: datetime, batch: int = 1000) -> int:
    """Delete one batch of expired answers; return how many."""
    return delete_batch(IdempotentAnswer.objects.filter(expires_at__lte=now), batch)


def find_answers_about(workspace_id: str, text: str, *, stored_since: datetime | None = None) -> set[int]:
    """Return the row ids of the workspace's stored answers whose JSON has `text` as the value of a member or item.

    stored_since: leave out answers that were certainly stored earlier. An answer that lives for less than 24 hours may
        be left out although it was stored later.
    """
    answers = IdempotentAnswer.objects.filter(workspace_id=workspace_id)
    if stored_since:
        answers = answers.filter(expires_at__gt=stored_since - LONGEST_REQUEST + ANSWER_LIFETIME)
    return {answer.pk for answer in answers.iterator(chunk_size=500) if _holds_text(_read_body(answer), text)}


def delete_answers(answer_ids: Collection[int]) -> int:
    """Delete these stored answers; return how many there were."""
    return IdempotentAnswer.objects.filter(pk__in=answer_ids).delete()[0]


def _read_body(answer: IdempotentAnswer) -> Any:
    """Return the JSON of a stored answer; None if no key of the settings decrypts it, so that nothing replays it."""
    try:
        return json.loads(decrypt(bytes(answer.body)) if answer.encrypted else bytes(answer.body))
    except InvalidToken:
        return None


def _holds_text(value: Any, text: str) -> bool:
    if isinstance(value, dict):
        return any(_holds_text(member, text) for member in value.values())
    if isinstance(value, list):
        return any(_holds_text(item, text) for item in value)
    return bool(value == text)
