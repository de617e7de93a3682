"""Store when a key was last used, exact to five minutes: at most one UPDATE per key in that time."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import DatabaseError, connection

from wire.postgresql.sqlstates import find_sqlstate
from workspaces.models import ApiKey

PRECISION = timedelta(minutes=5)
# Of several requests at the same time, one updates the row; the others skip it, so that none waits. This lock does not
# block reports, which refer to the key by foreign keys.
NOTE_USE = """
UPDATE workspaces_apikey SET last_used_at = %(now)s
 WHERE id = (SELECT id FROM workspaces_apikey
              WHERE id = %(id)s AND (last_used_at IS NULL OR last_used_at NOT BETWEEN %(since)s AND %(until)s)
                FOR NO KEY UPDATE SKIP LOCKED)
"""
log = logging.getLogger("affidavit.keys")


def note_use(key: ApiKey, *, now: datetime) -> None:
    """Store that a key is used now, unless a use within the last PRECISION is stored. Call it before any transaction.

    A use in the future was stored while the clock was ahead, and is replaced. If the database cannot write, a request
    that only reads goes on.
    """
    if key.last_used_at is not None and abs(now - key.last_used_at) < PRECISION:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute(NOTE_USE, {"id": key.pk, "now": now, "since": now - PRECISION, "until": now + PRECISION})
    except DatabaseError as error:
        name, state = type(error.__cause__ or error).__name__, find_sqlstate(error)
        log.warning("the last use of key %s… was not stored: %s", key.prefix, name, extra={"sqlstate": state})
