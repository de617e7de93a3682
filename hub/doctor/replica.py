"""The check of the read replica: that it is a replica of this database, and how far it is behind."""

from __future__ import annotations

import time
from decimal import Decimal

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections

from hub.doctor.result import Result
from hub.local.error_lines import describe_connection_error
from wire.postgresql.replica import REPLICA_ALIAS, read_primary_position, read_replayed_position

LOOK_SECONDS = 0.05
SYSTEM = "SELECT system_identifier FROM pg_control_system()"  # the same on a server and its replicas


def check_replica() -> Result:
    """Wait until the replica shows what the primary has committed by now, for at most REPLICA_MAX_AGE."""
    if not settings.REPLICA_DATABASE_URL:
        return Result("ok", "Everything is read from the primary; REPLICA_DATABASE_URL may name a replica for pages.")
    started_at = time.monotonic()
    position = read_primary_position()
    try:
        if read_replayed_position() is None or _read_system(REPLICA_ALIAS) != _read_system(DEFAULT_DB_ALIAS):
            return Result(
                "wrong",
                "REPLICA_DATABASE_URL does not name a replica of this database: pages are read from the primary.",
                "Correct it, or leave it out. A replica that was promoted must be replaced.",
            )
        while not _has_replayed(position):
            if time.monotonic() - started_at > settings.REPLICA_MAX_AGE:
                return Result(
                    "wrong",
                    f"The replica is more than {settings.REPLICA_MAX_AGE} s behind: pages are read from the primary.",
                    "Look at pg_stat_replication on the primary and at the replica's log and load.",
                )
            time.sleep(LOOK_SECONDS)
    except Error as error:
        return Result(
            "wrong",
            f"The replica does not answer: {describe_connection_error(error)}. Pages are read from the primary.",
            "Start it, or correct REPLICA_DATABASE_URL.",
        )
    return Result("ok", f"The replica showed within {time.monotonic() - started_at:.1f} s what is committed.")


def _has_replayed(position: Decimal) -> bool:
    return (read_replayed_position() or 0) >= position


def _read_system(alias: str) -> int:
    with connections[alias].cursor() as cursor:
        cursor.execute(SYSTEM)
        return int(cursor.fetchone()[0])
