"""Idempotency-Key on every POST (contract 1): the one mechanism, used by every machine endpoint.

A key is held by an advisory lock of the transaction that does the work, so that a crash lets go of it,
and the answer is kept in that same transaction, so that it exists exactly when its effect does.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.http import HttpResponse

from wire.errors import DomainError
from wire.models import IdempotentAnswer
from wire.redelivery import encryption

KEPT_FOR = timedelta(hours=24)
VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")
KEPT_HEADERS = ("Content-Type", "X-Outcomes-New", "Location")


class InvalidKey(DomainError):
    code = "invalid-idempotency-key"

    def __init__(self) -> None:
        super().__init__("Send an Idempotency-Key of 1 to 255 visible ASCII characters, a UUID for example.")


class KeyReused(DomainError):
    code = "idempotency-key-reused"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used with another body. Use a fresh key for a different request.")


class KeyInUse(DomainError):
    code = "idempotency-key-in-use"
    retry_after = 1

    def __init__(self) -> None:
        detail = "The first request with this Idempotency-Key is still running. Send the same request again shortly."
        super().__init__(detail)


@dataclass(frozen=True)
class Claim:
    """One request's hold on a key: whose, for which endpoint, over which bytes."""

    workspace_id: str
    endpoint: str
    key: str
    body_digest: bytes

    @classmethod
    def of(cls, workspace_id: str, endpoint: str, key: str, body: bytes) -> "Claim":
        if not VISIBLE_ASCII.fullmatch(key):
            raise InvalidKey
        return cls(workspace_id, endpoint, key, hashlib.sha256(body).digest())

    @property
    def lock(self) -> int:
        text = "\0".join((self.workspace_id, self.endpoint, self.key))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def once(
    claim: Claim,
    act: Callable[[], HttpResponse],
    *,
    now: datetime,
    secret: bool,
    until: datetime | None = None,
) -> HttpResponse:
    """Answer from the kept answer, or act and keep what comes of it if it is a 2xx.

    secret: the answer holds a key or an intent and is kept encrypted; until: no longer than this.
    Raises KeyReused or KeyInUse.
    """
    if kept := find(claim, now):
        return replay(claim, kept)
    with transaction.atomic():
        hold(claim)
        if kept := find(claim, now):  # finished between the look and the hold
            return replay(claim, kept)
        response = act()
        if 200 <= response.status_code < 300:
            keep(claim, response, secret=secret, expires_at=min(until or now + KEPT_FOR, now + KEPT_FOR))
        return response


def find(claim: Claim, now: datetime) -> IdempotentAnswer | None:
    return IdempotentAnswer.objects.filter(
        workspace_id=claim.workspace_id, endpoint=claim.endpoint, key=claim.key, expires_at__gt=now
    ).first()


def hold(claim: Claim) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [claim.lock])
        (held,) = cursor.fetchone()
    if not held:
        raise KeyInUse


def replay(claim: Claim, kept: IdempotentAnswer) -> HttpResponse:
    if bytes(kept.body_digest) != claim.body_digest:
        raise KeyReused
    body = encryption.opened(bytes(kept.body)) if kept.encrypted else bytes(kept.body)
    headers = {**kept.headers, "Idempotent-Replayed": "true"}
    return HttpResponse(body, status=kept.status, headers=headers)


def keep(claim: Claim, response: HttpResponse, *, secret: bool, expires_at: datetime) -> None:
    body = bytes(response.content)
    IdempotentAnswer.objects.update_or_create(
        workspace_id=claim.workspace_id,
        endpoint=claim.endpoint,
        key=claim.key,
        defaults={
            "body_digest": claim.body_digest,
            "status": response.status_code,
            "headers": {name: response[name] for name in KEPT_HEADERS if name in response},
            "body": encryption.sealed(body) if secret else body,
            "encrypted": secret,
            "expires_at": expires_at,
        },
    )


def prune(*, now: datetime, batch: int = 5000) -> int:
    """Delete answers past their time; returns how many."""
    old = IdempotentAnswer.objects.filter(expires_at__lte=now).values("pk")[:batch]
    return IdempotentAnswer.objects.filter(pk__in=old).delete()[0]
