"""/healthz: the process answers. /readyz: the database, its migrations and the fold are in order."""

from __future__ import annotations

from typing import Any

from django.db import Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from catalog.queries import measure_fold_lag
from hub.local.database import count_pending_migrations

LATE_FOLD_SECONDS = 300


def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when every check passes, else 503, with the result of each check."""
    checks = run_checks()
    ready = all(check["ok"] for check in checks.values())
    status = {"status": "ready" if ready else "not-ready", "checks": checks}
    return JsonResponse(status, status=200 if ready else 503, headers={} if ready else {"Retry-After": "5"})


def run_checks() -> dict[str, dict[str, Any]]:
    try:
        pending = count_pending_migrations()
        oldest = measure_fold_lag(now=timezone.now()) if not pending else None
    except Error as error:
        return {"database": {"ok": False, "detail": type(error).__name__}}
    return {
        "database": {"ok": True},
        "migrations": {"ok": not pending, "pending": pending},
        "fold": {"ok": (oldest or 0) < LATE_FOLD_SECONDS, "oldestUnfoldedSeconds": oldest},
    }
