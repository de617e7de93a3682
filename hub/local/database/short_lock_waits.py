"""Let migrations wait for a lock only briefly, because every later request waits behind them.

A statement such as `ALTER TABLE` waits for each transaction that has read the table, perhaps for a download of minutes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from django.db import OperationalError, connection, transaction

from wire.postgresql.sqlstates import is_lock_timeout

LONGEST_WAIT = "1s"
PAUSE = 5.0  # seconds in which those go on who waited behind a migration

log = logging.getLogger("affidavit.migrations")


def retry_while_locked(migrate: Callable[[], Any]) -> None:
    """Call `migrate` again until each of its statements gets its locks within LONGEST_WAIT.

    migrate: applies the migrations that are not applied yet, so that a call goes on where the last one ended.
    """
    while True:
        try:
            with connection.execute_wrapper(_limit_lock_wait):
                migrate()
            return
        except OperationalError as error:
            if not is_lock_timeout(error):
                raise
        log.warning("a migration waits until a long transaction of another connection ends, and tries again in 5 s")
        time.sleep(PAUSE)


def _limit_lock_wait(execute: Callable[..., Any], statement: str, parameters: Any, many: bool, context: Any) -> Any:
    """Execute a statement with a limit for its wait.

    What is done CONCURRENTLY has no limit: it keeps nobody waiting. The limit is set for a transaction, because poolers
    give the settings of a session to others.
    """
    if " CONCURRENTLY " in str(statement):
        return execute(statement, parameters, many, context)
    database = context["connection"]
    with nullcontext() if database.in_atomic_block else transaction.atomic(using=database.alias):
        database.connection.execute(f"SET LOCAL lock_timeout = '{LONGEST_WAIT}'")
        return execute(statement, parameters, many, context)
