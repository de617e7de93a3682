"""Verifications that the tests of the page of rejections report, and the rows that they read from its downloads."""

from __future__ import annotations

import json
from datetime import timedelta

from django.utils import timezone

from intents.reports.verification import Verification

NOW = timezone.now()


def build_verification(result, *, days_ago=1.0, **members) -> Verification:
    return Verification(result, NOW - timedelta(days=days_ago), **members)


def read_rows(response, table: str) -> list[dict]:
    return json.loads(response.getvalue())["tables"][table]
