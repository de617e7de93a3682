"""The hub's own counters and timers, in the form that Prometheus reads. `hub.metrics` serves them.

Processes of one machine add to files of PROMETHEUS_MULTIPROC_DIR, which `manage.py up` sets. Without it, each process
shows only its own numbers. Labels come from fixed sets: never a workspace, and never a name that somebody sent.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from prometheus_client import Counter, Histogram

from affidavit import REASONS
from wire.metrics.files import use_reserved_files

use_reserved_files()


def make_counter(name: str, documentation: str, label: str, values: Iterable[str]) -> Counter:
    """Return a counter that shows 0 for each value of its label before anything is counted.

    Prometheus sees growth only between two scrapes: a count that first appears as 5,000 has not grown for it.
    """
    counter = Counter(name, documentation, [label])
    for value in values:
        counter.labels(value)
    return counter


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Histogram(
    "affidavit_request_seconds", "Time to answer a request, by route and status.", ["method", "route", "status"],
    buckets=SECONDS,
)  # fmt: skip
ITEMS = make_counter(
    "affidavit_items", "Items that were accepted and stored, repeats included.",
    "kind", ["conversations", "observations", "outcomes", "verifications"],
)  # fmt: skip
UNKNOWN = Counter(
    "affidavit_unknown_conversations", "Reported outcomes whose conversation was not known, repeats included."
)
VERIFICATIONS = make_counter(
    "affidavit_verifications", "Verifications by result: accepted, or the reason.", "result", ["accepted", *REASONS]
)
FOLDS = Histogram("affidavit_fold_seconds", "Time to fold one batch of witness reports.", buckets=SECONDS)
FOLDED = Counter("affidavit_folded_reports", "Witness reports that were folded or became dead letters.")
ALERT_DELIVERIES = make_counter(
    "affidavit_alert_deliveries", "Attempts to deliver an alert, by result: delivered, failed, or dead (given up).",
    "result", ["delivered", "failed", "dead"],
)  # fmt: skip


def count_after_commit(counter: Counter, amount: int) -> None:
    """Add to the counter after the current transaction has committed."""
    if amount:
        transaction.on_commit(lambda: counter.inc(amount))
