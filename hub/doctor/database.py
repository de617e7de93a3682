"""Check the database: that it answers, fits this version of the hub, and that its tallies match its rows."""

from __future__ import annotations

import secrets
import time
from typing import cast

from django.conf import settings
from django.db import Error, connection, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from django.utils import timezone

from hub.doctor.result import Result
from hub.local.database.prepare import check_fitness
from hub.local.database.run_migrations import count_pending_migrations
from hub.local.database.web_role import describe_fault
from hub.local.error_lines import describe_connection_error
from hub.local.postgresql.server import Server
from hub.unfinished_restore import FAULT, is_restore_unfinished
from outcomes.tallies.recount_random_day import recount_random_day
from wire.format_numbers import count_noun
from workspaces.secrets.unreadable import CURE, describe_unreadable_secrets

MAX_CLOCK_DIFFERENCE = 5.0  # seconds


def check_database() -> Result:
    """Connect; check the versions of PostgreSQL and the data, and that no restore is half done. Raises StartupError."""
    if not settings.DATABASE_URL:
        server = Server(settings.HUB_DATA_DIR)
        server.refuse_moved_data()
        if not server.is_running():
            return Result(
                "wrong", "The hub's PostgreSQL does not run.", "Start the hub. If it does not start, it says why."
            )
    check_fitness()
    if is_restore_unfinished():
        return Result("wrong", f"{FAULT.capitalize()}.", "Run `manage.py prepare`, or restart `manage.py up`.")
    version = cast(DatabaseWrapper, connection).pg_version
    return Result("ok", f"PostgreSQL {version // 10_000}.{version % 10_000} answers.")


def check_migrations() -> Result:
    pending = count_pending_migrations()
    if pending:
        return Result(
            "wrong",
            f"Not applied yet: {count_noun(pending, 'migration')}.",
            "Run `manage.py migrate`, or restart `manage.py up`.",
        )
    return Result("ok", "All are applied.")


def check_web_role() -> Result:
    """Check that the role of the web server can do its work, but cannot change the audit log."""
    role = str(settings.WEB_DATABASE.get("USER", ""))
    if not role:
        return Result(
            "ok", "The web server connects as the owner of the tables; WEB_DATABASE_URL may name a narrower role."
        )
    if fault := describe_fault(role):
        return Result(
            "wrong", fault, f"Run `manage.py grant_web_role {role}`; it mends this, or says what prevents it."
        )
    return Result("ok", f"{role} may write rows, but not change the audit log.")


def check_web_login() -> Result:
    """Check that the web server's role can sign in, and to the same database."""
    if not settings.WEB_DATABASE.get("USER"):
        return Result("ok", "The web server signs in as this command does.")
    variable = "WEB_DATABASE_URL" if settings.DATABASE_URL else "the password of the web server's role"
    cure = "Correct WEB_DATABASE_URL." if settings.DATABASE_URL else "Restart the hub: a start sets it again."
    try:
        is_same = is_web_database_this_one()
    except Error as error:
        reason = describe_connection_error(error)
        return Result("wrong", f"The web server cannot sign in with {variable}: {reason}.", cure)
    if not is_same:
        return Result("wrong", f"{variable} names another database than DATABASE_URL.", cure)
    return Result("ok", "The web server can sign in, to this database.")


def is_web_database_this_one() -> bool:
    """Return whether the web server uses this database: if it does, it cannot take a lock that this command holds."""
    web_connection = connection.copy()
    web_connection.settings_dict.update(settings.WEB_DATABASE)
    key = secrets.randbits(62)
    try:
        with transaction.atomic(), connection.cursor() as cursor, web_connection.cursor() as web_cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
            web_cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [key])
            return not web_cursor.fetchone()[0]
    finally:
        web_connection.close()


def check_clock() -> Result:
    """Compare the database's clock with this machine's. Intents and confirmations expire by both."""
    sent_at = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        database_time = cursor.fetchone()[0]
    difference = abs(database_time - (sent_at + time.time()) / 2)
    if difference > MAX_CLOCK_DIFFERENCE:
        return Result(
            "wrong",
            f"The database's clock and this machine's differ by {difference:,.0f} s.",
            "Set both by NTP (chrony, timesyncd).",
        )
    return Result("ok", f"The database's clock differs by {difference:.1f} s.")


def check_keys() -> Result:
    """Decrypt, with SECRET_KEY and SECRET_KEY_FALLBACKS, every signing secret that still verifies."""
    if detail := describe_unreadable_secrets(now=timezone.now()):
        return Result("wrong", detail, CURE)
    return Result("ok", "All signing secrets can be decrypted.")


def check_tallies(seed: int) -> Result:
    """Recount some outcome keys of a random day, and compare them with their tallies."""
    recount = recount_random_day(seed)
    if recount is None:
        return Result("ok", "There are no outcomes yet.")
    environment = f"{recount.environment.workspace.slug}/{recount.environment.name}"
    scope = f"{count_noun(recount.keys, 'key')} of {recount.day:%Y-%m-%d} in {environment} (seed {seed})"
    if recount.difference:
        return Result(
            "wrong",
            f"{scope}: {recount.difference}.",
            "Keep a backup and report this: charts differ from what is stored. Stored outcomes are not affected.",
        )
    return Result("ok", f"{scope}: {count_noun(recount.outcomes, 'outcome')}, as the tallies say.")
