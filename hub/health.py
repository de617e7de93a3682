"""/healthz says that this process answers. /readyz says whether it can store data, and how late the worker is."""

from __future__ import annotations

import shutil
import threading
import time
from functools import cache
from typing import Any

from django.conf import settings
from django.db import Error, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from catalog.inbox_queries import measure_fold_lag
from hub.local.database.run_migrations import count_pending_migrations
from hub.local.supervision.ballast import is_released
from wire.postgresql.answer_timeout import bound_answers

LEAST_FREE_BYTES = 64 * 1024 * 1024
WRITE_SECONDS = 3
ANSWER_SECONDS = 5  # for all statements of a check

KEPT_SECONDS = 1.0  # how long a result is answered again
NO_ANSWER = f"No answer within {WRITE_SECONDS} s."

CheckResult = dict[str, Any]
Result = tuple[dict[str, CheckResult], float | None]


def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when every check passes, else 503, with the result of each check.

    Reports that wait for the worker do not count as a failure, because this process can still store more reports.
    """
    checks, unfolded_seconds = get_readiness().read()
    is_ready = all(check["ok"] for check in checks.values())
    status = {"status": "ready" if is_ready else "not-ready", "checks": checks}
    return JsonResponse(
        {**status, "oldestUnfoldedSeconds": unfolded_seconds},
        status=200 if is_ready else 503,
        headers={} if is_ready else {"Retry-After": "5"},
    )


class Readiness:
    """The latest result of this process. Strangers may ask without a limit, so the checks run once a second at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept_until = 0.0
        self._result: Result = ({}, None)

    def read(self) -> Result:
        """Return the latest result. If the database does not answer, one request at a time waits longer for it."""
        if not self._lock.acquire(timeout=WRITE_SECONDS):
            return {"database": {"ok": False, "detail": NO_ANSWER}, "disk": check_free_space()}, None
        try:
            if time.monotonic() >= self._kept_until:
                self._result = check_readiness()
                self._kept_until = time.monotonic() + KEPT_SECONDS
            return self._result
        finally:
            self._lock.release()


@cache
def get_readiness() -> Readiness:
    """Return the readiness of this process."""
    return Readiness()


def check_readiness() -> Result:
    """Return the checks of this process, and the age of the oldest unfolded report in seconds."""
    disk = check_free_space()
    try:
        with bound_answers(ANSWER_SECONDS):
            pending = count_pending_migrations()
            write_to_log()
            unfolded_seconds = measure_fold_lag(now=timezone.now()) if not pending else None
    except Error as error:
        return {"database": {"ok": False, "detail": type(error).__name__}, "disk": disk}, None
    checks: dict[str, CheckResult] = {
        "database": {"ok": True},
        "migrations": {"ok": not pending, "pending": pending},
        "disk": disk,
    }
    return checks, unfolded_seconds


def write_to_log() -> None:
    """Commit a message to the write-ahead log, to which every stored request writes, too.

    A full disk or a standby refuses it.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{WRITE_SECONDS}s"])
        cursor.execute("SELECT pg_logical_emit_message(true, 'affidavit', 'ready')")


def check_free_space() -> CheckResult:
    """Check the free space on the disk of the embedded database; the disk of another server is not known here."""
    if settings.DATABASE_URL:
        return {"ok": True}
    free = shutil.disk_usage(settings.HUB_DATA_DIR).free
    if is_released(settings.HUB_DATA_DIR):
        return {"ok": False, "freeBytes": free, "detail": "The disk was full. Make space until the ballast is back."}
    return {"ok": free >= LEAST_FREE_BYTES, "freeBytes": free}
