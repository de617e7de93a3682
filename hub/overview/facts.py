"""Is everything all right? What the three domains' numbers say together (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

USUAL_FACTOR = 2  # a rate this many times that of the period before is worth a word
WORTH_SAYING = 10  # and so many cases


@dataclass(frozen=True)
class Fact:
    """One number of the overview. value: as counted; of: what a rate is a rate of; before: in the period before.

    `alarming` where a bad rate is well above what it was.
    """

    name: str
    title: str
    page: str
    value: int
    of: int | None = None
    before: int | None = None
    before_of: int | None = None
    note: str = ""

    @property
    def change(self) -> float | None:
        """Against the period before, as a ratio; None where that had nothing, and for rates."""
        if self.of is not None or not self.before:
            return None
        return (self.value - self.before) / self.before

    @property
    def alarming(self) -> bool:
        if not self.of or self.value < WORTH_SAYING:
            return False
        usual = (self.before or 0) / self.before_of if self.before_of else 0
        return self.value / self.of > USUAL_FACTOR * usual

    def row(self) -> Sequence[Any]:
        return (self.name, self.value, self.of, self.before, self.before_of)


BROKEN = "Broken joins"
COLOURS = {BROKEN: {"line": {"color": "var(--bad)"}}}
COLUMNS = ("fact", "value", "of", "before", "beforeOf")


def facts(outcomes: Any, intents: Any, catalog: Any) -> Sequence[Fact]:
    """The five numbers, from each domain's own `queries.overview`."""
    now, before = outcomes.totals, outcomes.previous_totals
    return [
        Fact("conversations", "Conversations", "outcomes", now.conversations, before=before.conversations),
        Fact("outcomes", "Outcomes", "outcomes", now.outcomes, before=before.outcomes),
        Fact("brokenJoins", BROKEN, "joins", now.broken, now.reported, before.broken, before.reported),
        Fact(
            "rejections", "Calls rejected", "rejections",
            intents.rejections, intents.verifications, intents.previous_rejections, intents.previous_verifications,
        ),
        Fact("operations", "Operations", "catalog", catalog.total, note=news(catalog.new)),
    ]  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One step from nothing to first data. page: where its lines of code stand; done: whether it has had an effect."""

    title: str
    text: str
    page: str
    done: bool


def steps(*, observed: bool, reported: bool, verified: bool, asked: bool) -> Sequence[Step]:
    """What there is to set up, each ticked off by what has really arrived in this environment."""
    return [
        Step("Create a workspace", "Its keys and its signing secret were shown once.", "", True),
        Step("Observe an API", "A backend reports the shapes of its requests and answers.", "catalog", observed),
        Step("Report an outcome", "With the id of the conversation that led to it.", "outcomes", reported),
        Step("Verify an intent", "A backend checks the signed header of each call.", "rejections", verified),
        Step("Confirm a call", "A call that changes something waits until it is confirmed.", "confirmations", asked),
    ]


def news(count: int) -> str:
    return f"{count:,} new in this time" if count else "none new in this time"


def figure(labels: Sequence[str], lines: Mapping[str, Sequence[int]]) -> Mapping[str, Any]:
    """Counts over the range by name, as plotly.js reads them."""
    common = {"type": "scatter", "mode": "lines+markers", "x": list(labels)}
    data = [{**common, "name": name, "y": list(counts), **COLOURS.get(name, {})} for name, counts in lines.items()]
    axes = {"xaxis": {"type": "category", "nticks": 8, "tickangle": 0}, "yaxis": {"rangemode": "tozero"}}
    return {
        "data": data,
        "layout": {"hovermode": "x unified", "showlegend": True, "legend": {"orientation": "h"}, **axes},
    }
