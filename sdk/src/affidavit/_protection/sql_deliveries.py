"""The store of deliveries in SQL, which SQLite files use as well; a `DeliveryStore` (contract §3)."""

import itertools
import os
from collections.abc import Callable
from typing import Any

from affidavit._stores.pruning_pace import PRUNED_AT_ONCE, PRUNED_EVERY
from affidavit._stores.sql import Database, Execute, run_unfailing
from affidavit._stores.sqlite_file import open_file
from affidavit._stores.store_keys import store_key

from .deliveries import Claim, Delivery, Finished, InFlight, StoredResponse, make_owner, resolve_known_call
from .kept_responses import RETENTION
from .leases import LEASE

CREATE_DELIVERIES = """
CREATE TABLE IF NOT EXISTS affidavit_deliveries (
    delivery_key CHAR(64) PRIMARY KEY,
    fingerprint CHAR(64) NOT NULL,
    owner CHAR(32) NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    keep_until DOUBLE PRECISION NOT NULL,
    response TEXT
)
"""
INDEX_DELIVERIES = """
CREATE INDEX IF NOT EXISTS affidavit_deliveries_keep_until ON affidavit_deliveries (keep_until)
"""
_CLAIM = """
INSERT INTO affidavit_deliveries (delivery_key, fingerprint, owner, lease_until, keep_until)
VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_TAKE_OVER = """
UPDATE affidavit_deliveries SET fingerprint = ?, owner = ?, lease_until = ?, keep_until = ?, response = NULL
WHERE delivery_key = ? AND lease_until < ? AND (keep_until < ? OR (response IS NULL AND fingerprint = ?))
"""
_SELECT_STATE = "SELECT fingerprint, response, lease_until FROM affidavit_deliveries WHERE delivery_key = ?"
_WHERE_RUNNING = "WHERE delivery_key = ? AND owner = ? AND response IS NULL"
_RENEW = f"UPDATE affidavit_deliveries SET lease_until = ? {_WHERE_RUNNING}"
_FINISH = f"UPDATE affidavit_deliveries SET response = ?, keep_until = ? {_WHERE_RUNNING}"
_ABANDON = f"DELETE FROM affidavit_deliveries {_WHERE_RUNNING}"
_PRUNE = """
DELETE FROM affidavit_deliveries WHERE delivery_key IN (
    SELECT delivery_key FROM affidavit_deliveries WHERE keep_until < ? AND lease_until < ?
    ORDER BY keep_until, delivery_key LIMIT ?
)
"""


class SqlDeliveries:
    """A store in the table `affidavit_deliveries`, like `SqlNonces`.

    Call `create_table` once, where you run migrations.
    """

    def __init__(self, connect: Callable[[], Any], *, paramstyle: str | None = None) -> None:
        self._database: Database = Database(connect, paramstyle)
        self._claims = itertools.count(1)

    def create_table(self) -> None:
        """Create the table and its index unless they exist."""
        self._database.run(lambda execute: execute(CREATE_DELIVERIES))
        self._database.run(lambda execute: execute(INDEX_DELIVERIES))

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        claim = Claim(store_key(workspace, tool_call_id), make_owner())

        def try_claim(execute: Execute) -> Delivery | None:
            values = fingerprint, claim.owner, now + LEASE, now + RETENTION
            if execute(_CLAIM, claim.key, *values).rowcount == 1:
                return claim
            if execute(_TAKE_OVER, *values, claim.key, now, now, fingerprint).rowcount == 1:
                return claim
            row = execute(_SELECT_STATE, claim.key).fetchone()
            if row is None:
                return None
            state = Finished(StoredResponse.from_text(row[1])) if row[1] is not None else None
            return resolve_known_call(row[0], fingerprint, state, row[2], now)

        delivery = self._database.run(try_claim) or self._database.run(
            try_claim
        )  # None if the call was abandoned in between
        if not next(self._claims) % PRUNED_EVERY:
            run_unfailing(lambda: self.prune(now=now))
        return delivery or InFlight(retry_after=1)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        return self._run_update(_RENEW, now + LEASE, claim.key, claim.owner)

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        return self._run_update(_FINISH, response.to_text(), now + RETENTION, claim.key, claim.owner)

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        self._run_update(_ABANDON, claim.key, claim.owner)

    def prune(self, *, now: float) -> int:
        """Delete expired deliveries, at most 500, and return how many. This runs by itself every 250 claims."""
        limits = now, now, PRUNED_AT_ONCE
        return self._database.run(lambda execute: execute(_PRUNE, *limits).rowcount)

    def _run_update(self, sql: str, *parameters: object) -> bool:
        """Run one update of a claim. Return whether the call was still running under this claim."""
        return self._database.run(lambda execute: execute(sql, *parameters).rowcount) == 1


class SqliteDeliveries(SqlDeliveries):
    """SqlDeliveries in a SQLite file, like `SqliteNonces`; both may be in one file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._database = open_file(path, (CREATE_DELIVERIES, INDEX_DELIVERIES))
        self._claims = itertools.count(1)
