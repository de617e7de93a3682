"""Count the changes of an environment's catalog, by which downloads know whether their copies are current."""

from __future__ import annotations

from django.db import connection

from workspaces.models import Environment

COUNT_CHANGE = """
    INSERT INTO catalog_catalogrevision (environment_id, changes, digested_changes, document_digest, outline_digest)
    VALUES (%s, 1, 0, '', '')
    ON CONFLICT (environment_id) DO UPDATE SET changes = catalog_catalogrevision.changes + 1
"""


def mark_changed(environment: Environment) -> None:
    """Count a change of the catalog in the transaction that makes it, so that kept downloads are checked again."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_CHANGE, [environment.pk])
