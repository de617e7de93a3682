"""Used nonces and deliveries in Django's own database, outside the transaction of any request."""

from functools import partial
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections

from affidavit._intents.nonces import CREATE_NONCES, INDEX_NONCES, SqlNonces
from affidavit._protection.idempotency_stores import CREATE_DELIVERIES, INDEX_DELIVERIES, SqlDeliveries

_VENDORS = ("postgresql", "sqlite")


class DjangoNonces(SqlNonces):
    """SqlNonces in the database of an alias, on connections of its own: a request's rollback un-burns nothing.

    Make the table in a migration: `migrations.RunPython(create_tables, migrations.RunPython.noop)`. PostgreSQL
    and SQLite; ImproperlyConfigured for others. Use MemoryNonces in tests on an in-memory SQLite.
    """

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(_connect_to(using))


class DjangoDeliveries(SqlDeliveries):
    """SqlDeliveries in the database of an alias, as `DjangoNonces`."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(_connect_to(using))


def create_tables(apps: Any, schema_editor: Any) -> None:
    """For RunPython in a migration of yours: the tables of both stores, if they are not there."""
    for statement in (CREATE_NONCES, INDEX_NONCES, CREATE_DELIVERIES, INDEX_DELIVERIES):
        schema_editor.execute(statement)


def _connect_to(alias: str) -> Any:
    if connections[alias].vendor not in _VENDORS:
        raise ImproperlyConfigured("the Django stores need PostgreSQL or SQLite; use the SQL or the Redis store")
    return partial(_connect, alias)


def _connect(alias: str) -> Any:
    """A DB-API connection as Django makes them, but known to nobody else and never out of its pool."""
    wrapper = connections.create_connection(alias)
    options = {name: value for name, value in wrapper.settings_dict["OPTIONS"].items() if name != "pool"}
    wrapper.settings_dict = {**wrapper.settings_dict, "OPTIONS": options}
    wrapper.connect()
    return wrapper.connection
