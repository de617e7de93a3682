"""Re-encrypt stored ciphertext under SECRET_KEY, so that a key of SECRET_KEY_FALLBACKS can be removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import models, transaction

from wire.at_rest.encryption import build_cipher

TOKEN_START = "gAAAAA"  # how every Fernet token of this century begins


@dataclass(frozen=True)
class EncryptedColumn:
    """A column of Fernet tokens: as bytes, as text or within JSON.

    where: selects the rows that are encrypted.
    """

    model: type[models.Model]
    name: str
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Reencryption:
    """The result for one column, in numbers of rows.

    unreadable_count: rows that no key of the settings decrypts; they stay as they are.
    """

    changed_count: int = 0
    unreadable_count: int = 0


def reencrypt_column(column: EncryptedColumn, *, batch: int = 500) -> Reencryption:
    """Re-encrypt the rows of a column that are not under SECRET_KEY yet, each batch in its own transaction."""
    result = Reencryption()
    rows = column.model._default_manager.filter(**column.where).exclude(**{column.name: None}).order_by("pk")
    last_pk = None
    while True:
        with transaction.atomic():
            later_rows = rows if last_pk is None else rows.filter(pk__gt=last_pk)
            values = list(later_rows.select_for_update(no_key=True).values_list("pk", column.name)[:batch])
            for pk, value in values:
                _reencrypt_row(column, pk, value, result)
        if len(values) < batch:
            return result
        last_pk = values[-1][0]


def _reencrypt_row(column: EncryptedColumn, pk: Any, value: Any, result: Reencryption) -> None:
    try:
        new_value = _reencrypt_value(value)
    except InvalidToken:
        result.unreadable_count += 1
        return
    if new_value != value:
        column.model._default_manager.filter(pk=pk).update(**{column.name: new_value})
        result.changed_count += 1


def _reencrypt_value(value: Any) -> Any:
    """Return the value with every token in it encrypted under SECRET_KEY; raises InvalidToken."""
    match value:
        case bytes() | memoryview():
            return _reencrypt_token(bytes(value))
        case str():
            return _reencrypt_token(value.encode()).decode() if value.startswith(TOKEN_START) else value
        case dict():
            return {name: _reencrypt_value(member) for name, member in value.items()}
        case list():
            return [_reencrypt_value(item) for item in value]
    return value


def _reencrypt_token(token: bytes) -> bytes:
    try:
        build_cipher(settings.SECRET_KEY).decrypt(token)
    except InvalidToken:
        return build_cipher(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS).rotate(token)
    return token
