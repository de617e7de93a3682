"""The numbers and setup steps of the overview page, from all three domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.queries import OperationCounts
from intents.rejections.queries import RejectionOverview
from outcomes.broken_joins.overview import OutcomesOverview
from wire.time_buckets import Bucket, describe_starts

ALARMING_FACTOR = 2  # a rate this many times that of the period before is alarming
MIN_ALARMING_CASES = 10
BROKEN_JOINS = "Broken joins"
TRACE_STYLES = {BROKEN_JOINS: {"line": {"color": "var(--bad)"}}}
FACT_COLUMNS = ("fact", "value", "of", "before", "beforeOf")


@dataclass(frozen=True)
class Fact:
    """One number of the overview, for the period and for the one before. With a `total`, it is shown as a rate."""

    name: str
    title: str
    page: str
    value: int
    total: int | None = None
    previous: int | None = None
    previous_total: int | None = None
    note: str = ""

    @property
    def is_alarming(self) -> bool:
        """Whether this bad rate is well above that of the period before."""
        if not self.total or self.value < MIN_ALARMING_CASES:
            return False
        usual_rate = (self.previous or 0) / self.previous_total if self.previous_total else 0
        return self.value / self.total > ALARMING_FACTOR * usual_rate

    def to_row(self) -> Sequence[Any]:
        return (self.name, self.value, self.total, self.previous, self.previous_total)


def build_facts(
    outcomes: OutcomesOverview, rejections: RejectionOverview, operations: OperationCounts
) -> Sequence[Fact]:
    """Return the five numbers, in the order of the page."""
    totals, previous = outcomes.totals, outcomes.previous_totals
    return [
        Fact("conversations", "Conversations", "outcomes", totals.conversations, previous=previous.conversations),
        Fact("outcomes", "Outcomes", "outcomes", totals.outcomes, previous=previous.outcomes),
        Fact("brokenJoins", BROKEN_JOINS, "joins", totals.broken, totals.reported, previous.broken, previous.reported),
        Fact(
            "rejections", "Rejected calls", "rejections",
            rejections.rejections, rejections.verifications,
            rejections.previous_rejections, rejections.previous_verifications,
        ),
        Fact(
            "operations", "Operations", "catalog",
            operations.total, note=describe_new_operations(operations.new),
        ),
    ]  # fmt: skip


def describe_new_operations(count: int) -> str:
    return f"{count:,} new in this period" if count else "No new operations in this period"


@dataclass(frozen=True)
class SetupStep:
    """One step from nothing to first data. page: where the code to copy is; is_done: whether data have arrived."""

    title: str
    text: str
    page: str
    is_done: bool


def list_setup_steps(
    *, has_operations: bool, has_outcomes: bool, has_verifications: bool, has_confirmations: bool
) -> Sequence[SetupStep]:
    """Return the setup steps; each is done once its data have arrived in this environment."""
    return [
        SetupStep("Create a workspace", "Its keys and its signing secret were shown once.", "", True),
        SetupStep(
            "Observe an API", "A backend reports the shapes of its requests and responses.", "catalog", has_operations
        ),
        SetupStep("Report an outcome", "With the id of the conversation that led to it.", "outcomes", has_outcomes),
        SetupStep(
            "Verify an intent", "A backend checks the signed header of each call.", "rejections", has_verifications
        ),
        SetupStep(
            "Confirm a call", "A call that changes something waits for a decision.", "confirmations", has_confirmations
        ),
    ]


def build_figure(buckets: Sequence[Bucket], lines: Mapping[str, Sequence[int]]) -> Mapping[str, Any]:
    """Return a chart of counts over the period, by name, as plotly.js reads it."""
    common = {"type": "scatter", "mode": "lines+markers", "x": [bucket.label for bucket in buckets]}
    data = [{**common, "name": name, "y": list(counts), **TRACE_STYLES.get(name, {})} for name, counts in lines.items()]
    axes = {
        "xaxis": {"type": "category", "nticks": 8, "tickangle": 0},
        "yaxis": {"rangemode": "tozero", "tickformat": ",d"},
        **describe_starts(bucket.start for bucket in buckets),
    }
    return {
        "data": data,
        "layout": {"hovermode": "x unified", "showlegend": True, "legend": {"orientation": "h"}, **axes},
    }
