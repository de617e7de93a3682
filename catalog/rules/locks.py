"""Keep folds and manual overrides of one environment from each other, and count each change of its catalog."""

from __future__ import annotations

from django.db import connection

from catalog.models import Operation
from workspaces.models import Environment

COUNT_CHANGE = """
    INSERT INTO catalog_catalogrevision (environment_id, changes, digested_changes, document_digest, outline_digest)
    VALUES (%s, 1, 0, '', '')
    ON CONFLICT (environment_id) DO UPDATE SET changes = catalog_catalogrevision.changes + 1
"""


def lock_environment(environment: Environment) -> None:
    """Keep folds and other overrides away from this environment's operations until the transaction ends."""
    environment.hold()
    lock_operations(environment)
    mark_changed(environment)


def lock_operations(environment: Environment) -> None:
    """Wait until no other fold or override works on this environment. Keep others away until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"catalog.fold {environment.pk}"])


def mark_changed(environment: Environment) -> None:
    """Count a change of the catalog in the transaction that makes it, so that kept downloads are checked again."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_CHANGE, [environment.pk])


def lock_operation(operation: Operation) -> Operation:
    """Return the row as it is now, in a transaction in which no fold can change it."""
    lock_environment(operation.environment)
    return Operation.objects.select_related("environment").get(pk=operation.pk)
