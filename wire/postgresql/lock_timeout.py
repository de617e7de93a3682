"""Errors of statements that waited for a lock longer than `lock_timeout`."""

from __future__ import annotations

from django.db import OperationalError

LOCK_NOT_AVAILABLE = "55P03"


def is_lock_timeout(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE
