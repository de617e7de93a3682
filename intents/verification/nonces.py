"""The hub's own store of used nonces, in its database but outside its requests' transactions (contract 3)."""

from __future__ import annotations

from typing import Any

from django.db import connection

from affidavit import SqlNonces


def connect() -> Any:
    """A driver's connection beside Django's: what is burnt stays burnt, whatever a request takes back."""
    return connection.get_new_connection(connection.get_connection_params())


NONCES = SqlNonces(connect)
