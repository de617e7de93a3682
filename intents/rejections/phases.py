"""The rate of rejections before and after each annotation of a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from intents.rejections.filters import RejectionFilters, is_rejection
from intents.rejections.growth.growth_of_share import Growth, find_reason_growth
from intents.rejections.tallies.read_tallies import count_results
from wire.time.period import Period
from workspaces.annotations.phase_comparison import PhaseChange, pair_with_previous
from workspaces.annotations.queries import list_phases
from workspaces.models import Environment


@dataclass(frozen=True)
class RejectionChange(PhaseChange):
    """The rejections and verifications of a phase, compared with the phase before it.

    growth: what `find_reason_growth` returns: the reason that grew most since the phase before, or None.
    """

    growth: Growth | None = None

    @property
    def may_be_chance(self) -> bool:
        return super().may_be_chance or bool(self.growth and self.growth.is_within_chance)


def read_phases(
    environment: Environment, period: Period, filters: RejectionFilters, first_data: datetime | None
) -> Sequence[RejectionChange]:
    """Return the phases of a period between its latest annotations, the latest first; none without annotations.

    The filters narrow them as they narrow the chart.

    first_data: when the environment's verifications begin.
    """
    spans = list_phases(environment, period, first_data)
    counts = count_results(environment, [span.bucket for span in spans], filters)
    phases = [
        replace(span, total=results.total(), count=sum(count for name, count in results.items() if is_rejection(name)))
        for span, results in zip(spans, counts, strict=True)
    ]
    growths = map(find_reason_growth, counts, [Counter[str](), *counts])
    facts = zip(pair_with_previous(phases), growths, strict=True)
    return [RejectionChange(phase, previous, growth=growth) for (phase, previous), growth in facts][::-1]
