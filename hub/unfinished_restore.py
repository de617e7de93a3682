"""What a restored database must not do before its alerts are paused, also if the restore was killed before it did so.

A table without rows, which comes with the data in one transaction, marks such a database.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from alerts.setup.alerts import pause_every_alert

MARK = "hub_unfinished_restore"
# A dump leaves an empty search path. The backup of a marked database has the table, too.
CREATE_MARK = f"RESET search_path;\nCREATE TABLE IF NOT EXISTS {MARK} ();\n"
DROP_MARK = f"DROP TABLE IF EXISTS {MARK}"
SELECT_MARK = "SELECT to_regclass(%s) IS NOT NULL"
FAULT = "a restore into this database was interrupted"


def is_marked(database: BaseDatabaseWrapper = connection) -> bool:
    with database.cursor() as cursor:
        cursor.execute(SELECT_MARK, [MARK])
        return bool(cursor.fetchone()[0])


@transaction.atomic
def pause_restored_alerts() -> int:
    """Pause the alerts of a marked database, which is migrated, and remove the mark. Return how many were paused."""
    if not is_marked():
        return 0
    paused_alerts = pause_every_alert(actor="restore", now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(DROP_MARK)
    return paused_alerts
