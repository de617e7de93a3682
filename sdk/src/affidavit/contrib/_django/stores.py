"""Stores of nonces and deliveries in Django's database, outside any request's transaction."""

from functools import partial
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections

from affidavit._intents.nonces import CREATE_NONCES, INDEX_NONCES, SqlNonces
from affidavit._protection.sql_deliveries import CREATE_DELIVERIES, INDEX_DELIVERIES, SqlDeliveries

_VENDORS = ("postgresql", "sqlite")


class DjangoNonces(SqlNonces):
    """SqlNonces in the database of an alias, on its own connections, so that a request's rollback frees no nonce.

    Create the table in a migration: `migrations.RunPython(create_tables, migrations.RunPython.noop)`. The database is
    PostgreSQL or SQLite; any other raises ImproperlyConfigured. Use MemoryNonces in tests on an in-memory SQLite.
    """

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(_make_connect(using))


class DjangoDeliveries(SqlDeliveries):
    """SqlDeliveries in the database of an alias, like `DjangoNonces`."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(_make_connect(using))


def create_tables(apps: Any, schema_editor: Any) -> None:
    """Create the tables of both stores unless they exist. Pass this function to RunPython in a migration of yours."""
    for statement in (CREATE_NONCES, INDEX_NONCES, CREATE_DELIVERIES, INDEX_DELIVERIES):
        schema_editor.execute(statement)


def _make_connect(alias: str) -> Any:
    if connections[alias].vendor not in _VENDORS:
        raise ImproperlyConfigured("the Django stores need PostgreSQL or SQLite; use the SQL or the Redis store")
    return partial(_open_connection, alias)


def _open_connection(alias: str) -> Any:
    """Return a new DB-API connection with Django's settings, neither shared nor from Django's pool."""
    wrapper = connections.create_connection(alias)
    options = {name: value for name, value in wrapper.settings_dict["OPTIONS"].items() if name != "pool"}
    wrapper.settings_dict = {**wrapper.settings_dict, "OPTIONS": options}
    wrapper.connect()
    wrapper.set_autocommit(False)  # otherwise each statement is kept at once, and cannot be tried again
    return wrapper.connection
