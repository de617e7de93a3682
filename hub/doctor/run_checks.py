"""The list of checks, and how they are run: one after the other, whatever one of them raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from django.db import DatabaseError

from hub.doctor.background_work import check_alerts, check_broker, check_fold_lag, check_worker
from hub.doctor.database import (
    check_clock,
    check_database,
    check_keys,
    check_migrations,
    check_tallies,
    check_web_login,
    check_web_role,
)
from hub.doctor.disk_and_static_files import check_disk, check_static_files
from hub.doctor.hosts_tls_secret_key import check_deployment, check_hosts, check_secret_key, check_tls
from hub.doctor.mail_server import check_mail_server
from hub.doctor.misspelt_variables import check_variables
from hub.doctor.replica import check_replica
from hub.doctor.result import Result
from hub.doctor.single_sign_on import check_single_sign_on
from hub.local.error_lines import EXPECTED_ERRORS, format_error


@dataclass(frozen=True)
class Check:
    """One check.

    needs: the name of an earlier check. If the earlier check is not ok, this check is not run.
    """

    name: str
    run: Callable[[], Result]
    needs: str = ""


def list_checks(seed: int) -> list[Check]:
    """Return all checks in the order in which their faults should be mended.

    seed: chooses the day to recount.
    """
    return [
        Check("variables", check_variables),
        Check("hosts", check_hosts),
        Check("TLS", check_tls),
        Check("secret key", check_secret_key),
        Check("security", check_deployment),
        Check("disk", check_disk),
        Check("static files", check_static_files),
        Check("e-mail", check_mail_server),
        Check("OIDC", check_single_sign_on),
        Check("database", check_database),
        Check("migrations", check_migrations, needs="database"),
        Check("web role", check_web_role, needs="migrations"),
        Check("web login", check_web_login, needs="web role"),
        Check("replica", check_replica, needs="database"),
        Check("clock", check_clock, needs="database"),
        Check("keys", check_keys, needs="migrations"),
        Check("broker", check_broker),
        Check("worker", check_worker, needs="broker"),
        Check("fold lag", check_fold_lag, needs="migrations"),
        Check("alerts", check_alerts, needs="migrations"),
        Check("tallies", partial(check_tallies, seed), needs="migrations"),
    ]


def run_checks(checks: Iterable[Check]) -> Iterator[tuple[str, Result]]:
    """Yield the name and the result of each check, as soon as it is known."""
    states = {"": "ok"}
    for check in checks:
        if states[check.needs] == "ok":
            result = run_check(check)
        else:
            result = Result("skipped", f"Not checked, because of: {check.needs}.")
        states[check.name] = result.state
        yield check.name, result


def run_check(check: Check) -> Result:
    try:
        return check.run()
    except EXPECTED_ERRORS as error:
        return Result("wrong", format_error(error).removeprefix("affidavit: "))  # its text says the cure
    except DatabaseError as error:
        return Result("wrong", f"The database refused a statement ({type(error).__name__}).", "Look into its log.")
    except Exception as error:  # the other checks may say why: a full disk, for example, stops the broker in many ways
        return Result("wrong", f"The check itself failed ({type(error).__name__}).", "See what the other checks say.")
