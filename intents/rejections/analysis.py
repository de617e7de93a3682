"""What the rejections page found: each part read once, and only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from intents.models import Rejection
from intents.rejections import queries, totals
from intents.rejections.filters import Filters
from intents.rejections.series import Bucket
from intents.rejections.totals import Line, ReasonLine, Total
from wire.period import Period
from workspaces.models import Environment


@dataclass
class Findings:
    """The verifications of one environment in one range, as far as the filters let them through.

    The list of reasons is not narrowed to the reason that was chosen: from it, another one is chosen.
    """

    environment: Environment
    period: Period
    filters: Filters

    @cached_property
    def all_totals(self) -> Sequence[Total]:
        return queries.totals(self.environment, self.period, self.filters)

    @cached_property
    def all_before(self) -> Sequence[Total]:
        return queries.totals(self.environment, self.period.previous(), self.filters)

    @cached_property
    def totals(self) -> Sequence[Total]:
        return totals.of_reason(self.all_totals, self.filters.reason)

    @cached_property
    def before(self) -> Sequence[Total]:
        return totals.of_reason(self.all_before, self.filters.reason)

    @property
    def reasons(self) -> Sequence[ReasonLine]:
        return totals.by_reason(self.all_totals, self.all_before)

    @property
    def versions(self) -> Sequence[Line]:
        return totals.by_version(self.totals)

    @property
    def operations(self) -> Sequence[Line]:
        return totals.by_operation(self.totals)

    @cached_property
    def series(self) -> Sequence[Bucket]:
        return queries.series(self.environment, self.period, self.filters)

    @property
    def singles(self) -> QuerySet[Rejection]:
        return queries.rejections(self.environment, self.period, self.filters)
