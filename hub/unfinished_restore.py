"""Mark a restored database until its alerts are paused, so that none fires even if the restore was killed before.

The mark is a table without rows. It is created in the transaction that restores the data.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from alerts.setup.alerts import pause_every_alert

MARK = "hub_unfinished_restore"
# RESET: a dump leaves an empty search path. IF NOT EXISTS: the dump of a marked database has created the table already.
CREATE_MARK = f"RESET search_path;\nCREATE TABLE IF NOT EXISTS {MARK} ();\n"
DROP_MARK = f"DROP TABLE IF EXISTS {MARK}"
SELECT_MARK = "SELECT to_regclass(%s) IS NOT NULL"
FAULT = "a restore into this database was interrupted"


def is_restore_unfinished(database: BaseDatabaseWrapper = connection) -> bool:
    """Return whether the database is marked."""
    with database.cursor() as cursor:
        cursor.execute(SELECT_MARK, [MARK])
        return bool(cursor.fetchone()[0])


@transaction.atomic
def pause_restored_alerts() -> int:
    """If the database is marked, pause its alerts and remove the mark. Return how many alerts were paused.

    The database must be migrated.
    """
    if not is_restore_unfinished():
        return 0
    paused_alerts = pause_every_alert(actor="restore", now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(DROP_MARK)
    return paused_alerts
