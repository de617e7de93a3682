"""The operation that has most of the rejections with one reason (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter

from intents.rejections.tallies.totals import Total


def find_main_operation(totals: Iterable[Total], reason: str) -> str:
    """Return the operation of more than half of the rejections with this reason; "" if there is none."""
    counts: Counter[str] = Counter()
    for total in totals:
        if total.result == reason:
            counts[total.operation] += total.count
    operation, count = max(counts.items(), key=itemgetter(1), default=("", 0))
    return operation if count * 2 > counts.total() else ""
