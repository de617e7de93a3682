"""Pauses between attempts grow, and respect what the receiver asks for; the last attempt is made after 24 hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from alerts.delivery.retries import PAUSES, RETRIED_FOR, find_next_attempt, parse_retry_after

NOW = timezone.now()


def test_pauses_between_attempts_grow_with_jitter_until_the_last_attempt_after_24_hours():
    now, attempts, moments = NOW, 1, []
    while (next_at := find_next_attempt(attempts, NOW, now=now, draw=lambda: 0.5)) is not None:
        moments.append(next_at - now)
        now, attempts = next_at, attempts + 1
    assert moments[: len(PAUSES)] == PAUSES
    assert now == NOW + RETRIED_FOR
    assert 10 < attempts < 20
    low, high = (find_next_attempt(3, NOW, now=NOW, draw=lambda draw=draw: draw) for draw in (0.0, 0.999))
    assert timedelta(seconds=90) < low - NOW < timedelta(seconds=120) < high - NOW < timedelta(seconds=150)


@pytest.mark.parametrize(
    ("text", "pause"),
    [
        ("120", timedelta(minutes=2)),
        (" 120 ", timedelta(minutes=2)),
        ("Sun, 22 Nov 2026 12:10:00 GMT", timedelta(minutes=10)),
        ("Sun, 22 Nov 2026 11:59:00 GMT", None),
        ("999999", timedelta(hours=4)),
        ("9" * 5000, timedelta(hours=4)),
        ("Sun, 22 Nov 2099 12:00:00 GMT", timedelta(hours=4)),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_sets_the_pause_within_limits(text, pause):
    assert parse_retry_after(text, now=datetime(2026, 11, 22, 12, tzinfo=UTC)) == pause
