"""Sessions that a copy of the database does not reveal: stored keys are digests of the cookies, data is encrypted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from cryptography.fernet import InvalidToken
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.encoding import force_bytes

from wire.at_rest.encryption import decrypt, encrypt


class SessionStore(db.SessionStore):
    """A session in the database; only synchronous code uses it.

    Two requests of one session may run at the same time. Each stores only the members that it changed: what the other
    keeps for its next page, such as a key that is shown once, stays.
    """

    _loaded: dict[str, Any] | None = None  # the members as this request read them

    def load(self) -> dict[str, Any]:
        data: dict[str, Any] = super().load()
        self._loaded = deepcopy(data)
        return data

    def save(self, must_create: bool = False) -> None:
        """Store the session. Raises UpdateError if it was deleted meanwhile, and CreateError as Django does."""
        if must_create or self.session_key is None or self._loaded is None:
            super().save(must_create)
        else:
            try:
                with transaction.atomic():
                    self._session_cache = self._merge(self._loaded)
                    super().save()
            except DatabaseError as error:
                raise UpdateError from error
        self._loaded = deepcopy(dict(self.items()))

    def _merge(self, loaded: Mapping[str, Any]) -> dict[str, Any]:
        """Lock the row, and return its members with the changes of this request."""
        key = hash_session_key(self.session_key or "")
        row = self.model.objects.select_for_update().filter(session_key=key).first()
        stored = self.decode(row.session_data) if row else {}
        own = dict(self.items())
        changes = {name: value for name, value in own.items() if name not in loaded or loaded[name] != value}
        # A page that takes a secret removes the one that it shows, not the next one of this name.
        not_removed = {
            name: value for name, value in stored.items() if name in own or (name, value) not in loaded.items()
        }
        return {**not_removed, **changes}

    def encode(self, session_dict: dict[str, Any]) -> str:
        return encrypt(self.serializer().dumps(session_dict)).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return the content of the row; {} if no key of the settings decrypts it."""
        try:
            return dict(self.serializer().loads(decrypt(force_bytes(session_data))))
        except (InvalidToken, ValueError):
            return {}

    def exists(self, session_key: str) -> bool:
        return super().exists(hash_session_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.session_key = hash_session_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            super().delete(hash_session_key(key))

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        key = hash_session_key(self.session_key or "")
        row: AbstractBaseSession | None = self.model.objects.filter(
            session_key=key, expire_date__gt=timezone.now()
        ).first()
        if row is None:
            self._session_key = None  # the key of a cookie without a session is not used again
        return row


def hash_session_key(key: str) -> str:
    """Return the key of the row: 160 bits of SHA-256, because a session's key has about as many random bits."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]
