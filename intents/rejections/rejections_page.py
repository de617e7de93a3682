"""The data of the rejections page. Each part is read once, and only if it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from affidavit import REASONS
from intents.models import Rejection
from intents.rejections import rejections_by_key
from intents.rejections.filters import RejectionFilters
from intents.rejections.growth.main_operation import find_main_operation
from intents.rejections.growth.new_reason import find_new_reason
from intents.rejections.growth.rise import Rise, find_explaining_reason, find_start
from intents.rejections.phases import RejectionChange, read_phases
from intents.rejections.single_rejections import find_first_rejection, list_rejections
from intents.rejections.tallies.first_and_last_verifications import find_first_data
from intents.rejections.tallies.read_tallies import load_buckets, load_totals, load_totals_by_result
from intents.rejections.tallies.series import ResultBucket
from intents.rejections.tallies.totals import (
    GroupSummary,
    ReasonSummary,
    Total,
    compute_version_share,
    count_refused_v1,
    count_rejections,
    count_verifications,
    group_by_operation,
    group_by_reason,
    group_by_version,
    narrow_to_reason,
)
from wire.time.period import Period
from workspaces.models import Environment

MAX_OPEN_REASONS = 6  # the others are folded; a single further one is not
MAX_LISTED_OPERATIONS = 50  # on the page; the export has all


@dataclass
class RejectionAnalysis:
    """The verifications of one environment in one period, as the filters show them."""

    environment: Environment
    period: Period
    filters: RejectionFilters

    @cached_property
    def totals(self) -> Sequence[Total]:
        """Return the totals, narrowed to the reason of the filter."""
        return narrow_to_reason(self._totals_of_all_reasons, self.filters.reason)

    @property
    def previous_totals(self) -> Sequence[Total]:
        """Return the totals of the period before, narrowed to the reason of the filter."""
        totals = load_totals(self.environment, self.period.previous(), self.filters)
        return narrow_to_reason(totals, self.filters.reason)

    @property
    def totals_by_result(self) -> Sequence[Total]:
        """Return the totals by result alone, which are read in less time than `totals`.

        If the filters choose a version or an operation, these are the same as `totals`.
        """
        return narrow_to_reason(self._results, self.filters.reason)

    @property
    def previous_totals_by_result(self) -> Sequence[Total]:
        """Return the totals of the period before, as `totals_by_result` returns those of the period."""
        return narrow_to_reason(self._previous_results, self.filters.reason)

    @property
    def totals_of_all_versions(self) -> Sequence[Total]:
        """Return the totals of all versions, even if one is chosen: the share of one version alone is always 100 %."""
        if not self.filters.version:
            return self.totals
        return RejectionAnalysis(self.environment, self.period, replace(self.filters, version=0)).totals

    @property
    def reasons(self) -> Sequence[ReasonSummary]:
        """Return all reasons, also those that the filter leaves out: the page offers them for selection."""
        return group_by_reason(self._results, self._previous_results)

    @property
    def versions(self) -> Sequence[GroupSummary]:
        """Return the totals by version."""
        return group_by_version(self.totals)

    @property
    def operations(self) -> Sequence[GroupSummary]:
        """Return the totals by operation."""
        return group_by_operation(self.totals)

    @cached_property
    def buckets(self) -> Sequence[ResultBucket]:
        """Return the counts over time, without the buckets before the first verification of the environment."""
        return load_buckets(self.environment, self.chart_period, self.filters)

    @property
    def phases(self) -> Sequence[RejectionChange]:
        """Return the counts between the latest annotations of the period, the latest first."""
        return read_phases(self.environment, self.period, self.filters, self.first_data)

    @cached_property
    def first_data(self) -> datetime | None:
        """Return the first quarter hour with a verification here, in any period; None if there is none."""
        return find_first_data(self.environment)

    @property
    def has_data_before(self) -> bool:
        """Return whether the previous period has data to compare with: verifications began before its end."""
        return self.period.has_data_before(self.first_data)

    @property
    def chart_period(self) -> Period:
        return self.period.begin_with_data(self.first_data)

    @property
    def rise(self) -> Rise:
        """Return since when more calls are rejected than in the period before, and the reason if one explains it."""
        verifications = count_verifications(self.totals_by_result), count_verifications(self.previous_totals_by_result)
        reason = find_explaining_reason(self.reasons, *verifications)
        if reason is None:
            return Rise(None, "", *self._find_rise_start(count_rejections(self.previous_totals_by_result)))
        of_reason = RejectionAnalysis(self.environment, self.period, replace(self.filters, reason=reason.reason))
        start = of_reason._find_rise_start(reason.previous_count)
        return Rise(reason, find_main_operation(self.totals, reason.reason), *start)

    def _find_rise_start(self, previous_count: int) -> tuple[datetime | None, bool, int]:
        """Return when rejections rose suddenly, whether this time is exact, and how many rejections there are since.

        A bucket begins at the edge of its hour or day. The time of its first single rejection, if that is still stored,
        is a better start.
        """
        start = find_start(self.buckets, previous_count)
        if start is None:
            return None, False, 0
        end = next((bucket.start for bucket in self.buckets if bucket.start > start), self.period.end)
        bucket = replace(self.period, start=start, end=end)
        first = find_first_rejection(self.environment, bucket, self.filters)
        count = sum(bucket.rejections for bucket in self.buckets if bucket.start >= start)
        return first or start, first is not None and self.chart_period.step == "hour", count

    @property
    def new_reason(self) -> ReasonSummary | None:
        """Return the most frequent reason that the period before did not have, if it has enough calls to be named."""
        return find_new_reason(self.reasons)

    @property
    def rejections(self) -> QuerySet[Rejection]:
        """Return the single rejections, the latest first."""
        return list_rejections(self.environment, self.period, self.filters)

    @cached_property
    def keys_since(self) -> datetime | None:
        """Return the time from which on `keys` sums the rejections; None if it sums those of the whole period."""
        return rejections_by_key.find_first_of_latest(self.environment, self.period, self.filters)

    @property
    def keys(self) -> Sequence[rejections_by_key.KeyRejections]:
        """Return the sums of the latest single rejections by the key that reported them."""
        return rejections_by_key.count_by_key(self.environment, self.period, self.filters, since=self.keys_since)

    @cached_property
    def _totals_of_all_reasons(self) -> Sequence[Total]:
        return load_totals(self.environment, self.period, self.filters)

    @cached_property
    def _results(self) -> Sequence[Total]:
        return load_totals_by_result(self.environment, self.period, self.filters)

    @cached_property
    def _previous_results(self) -> Sequence[Total]:
        return load_totals_by_result(self.environment, self.period.previous(), self.filters)


def build_breakdown(analysis: RejectionAnalysis) -> Mapping[str, Any]:
    """Return the tables by reason, version and operation."""
    operations = analysis.operations
    if analysis.filters.version:  # the reader asks where calls of this version arrive, rejected or not
        operations = sorted(operations, key=attrgetter("verifications"), reverse=True)
    listed_operations = operations[:MAX_LISTED_OPERATIONS]
    is_folded = not analysis.filters.version
    return {
        **_split_reasons(analysis),
        "versions": analysis.versions,
        "is_v1_accepted": analysis.environment.workspace.accepts_v1_at(timezone.now()),
        "refused_v1": count_refused_v1(analysis.totals),
        "share": compute_version_share(analysis.totals_of_all_versions),
        "operations": [summary for summary in listed_operations if summary.rejections or not is_folded],
        "other_operations": [summary for summary in listed_operations if is_folded and not summary.rejections],
        "operations_total": len(operations),
        "operations_left_out": len(operations) > MAX_LISTED_OPERATIONS,
        "max_operations": MAX_LISTED_OPERATIONS,
    }


def _split_reasons(analysis: RejectionAnalysis) -> Mapping[str, Any]:
    """Return the most frequent reasons, and the others, which are folded unless one of them is chosen."""
    summaries, chosen_reason = analysis.reasons, analysis.filters.reason
    open_reason = chosen_reason or (summaries[0].reason if summaries else "")
    rows = [(summary, REASONS[summary.reason], summary.reason == open_reason) for summary in summaries]
    limit = MAX_OPEN_REASONS if len(rows) > MAX_OPEN_REASONS + 1 else len(rows)
    other_rows = rows[limit:]
    return {
        "reasons": rows[:limit],
        "other_reasons": {
            "rows": other_rows,
            "calls": sum(summary.count for summary, *_ in other_rows),
            "is_open": any(summary.reason == chosen_reason for summary, *_ in other_rows),
        },
    }
