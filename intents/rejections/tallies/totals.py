"""Sums of verifications in a period, grouped by reason, version and operation (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from intents.rejections.filters import is_rejection, narrow_result


@dataclass(frozen=True)
class Total:
    """The number of verifications of a period with one result, version and operation. The last was at `last_at`."""

    result: str
    version: int
    operation: str
    count: int
    last_at: datetime


@dataclass(frozen=True)
class GroupSummary:
    """The verifications of one version, or of one operation.

    main_reasons: the most frequent reason of its rejections; several if they are equally frequent.
    """

    name: str | int
    verifications: int
    rejections: int
    main_reasons: Sequence[str]
    last_at: datetime

    @property
    def rate(self) -> float:
        """Return the rejections per verification."""
        return self.rejections / self.verifications


@dataclass(frozen=True)
class ReasonSummary:
    """The rejections with one reason, in this period or only in the one before.

    share: the share of all rejections, 0 to 1.
    previous_count: the number of rejections in the period before.
    last_at: the time of the last rejection, in this period if it has any, else in the one before.
    """

    reason: str
    count: int
    share: float
    previous_count: int
    last_at: datetime


@dataclass(frozen=True)
class VersionShare:
    """The numbers of verifications of version 1 and of version 2."""

    v1: int
    v2: int

    @property
    def total(self) -> int:
        """Return the number of verifications with a known version."""
        return self.v1 + self.v2


def count_verifications(totals: Iterable[Total]) -> int:
    """Count verifications, accepted or not."""
    return sum(total.count for total in totals)


def count_rejections(totals: Iterable[Total]) -> int:
    """Count the rejections, without those whose reason `narrow_to_reason` dropped."""
    return count_verifications(total for total in totals if is_rejection(total.result))


def narrow_to_reason(totals: Iterable[Total], reason: str) -> Sequence[Total]:
    """Drop all reasons but `reason` ("" drops none); the other rejections still count as verifications."""
    return [replace(total, result=narrow_result(total.result, reason)) for total in totals]


def group_by_reason(totals: Sequence[Total], previous: Sequence[Total]) -> Sequence[ReasonSummary]:
    """Summarize each reason of this period or the one before, the most frequent first.

    Equally frequent reasons are sorted by their frequency in the period before, then by name.

    previous: the totals of the period before.
    """
    all_rejections = count_rejections(totals)
    groups, previous_groups = (_group_totals(part, lambda total: total.result) for part in (totals, previous))
    summaries = []
    for reason in filter(is_rejection, {**groups, **previous_groups}):
        group, previous_group = groups.get(reason, ()), previous_groups.get(reason, ())
        count, previous_count = count_verifications(group), count_verifications(previous_group)
        share = count / all_rejections if all_rejections else 0
        summaries.append(ReasonSummary(reason, count, share, previous_count, _find_latest(group or previous_group)))
    return sorted(summaries, key=lambda summary: (-summary.count, -summary.previous_count, summary.reason))


def group_by_version(totals: Sequence[Total]) -> Sequence[GroupSummary]:
    """Summarize each version, the newest first; verifications without a version come last."""
    groups = _group_totals(totals, lambda total: total.version)
    return [_summarize(version, groups[version]) for version in sorted(groups, reverse=True)]


def group_by_operation(totals: Sequence[Total]) -> Sequence[GroupSummary]:
    """Summarize each operation: the most rejected first, then the most verified, then by name."""
    groups = _group_totals(totals, lambda total: total.operation)
    summaries = [_summarize(operation, group) for operation, group in groups.items()]
    return sorted(summaries, key=lambda summary: (-summary.rejections, -summary.verifications, summary.name))


def compute_version_share(totals: Sequence[Total]) -> VersionShare:
    """Count verifications of version 1 and of version 2."""
    groups = _group_totals(totals, lambda total: total.version)
    return VersionShare(v1=count_verifications(groups.get(1, [])), v2=count_verifications(groups.get(2, [])))


def count_refused_v1(totals: Iterable[Total]) -> Mapping[str, int]:
    """Count the calls of version 1 that were rejected for their version, by operation, the most frequent first."""
    counts: Counter[str] = Counter()
    for total in totals:
        if total.version == 1 and total.result == "unsupported-version":
            counts[total.operation] += total.count
    return dict(counts.most_common())


def _summarize(name: str | int, group: Sequence[Total]) -> GroupSummary:
    return GroupSummary(
        name, count_verifications(group), count_rejections(group), _find_main_reasons(group), _find_latest(group)
    )


def _find_main_reasons(group: Sequence[Total]) -> Sequence[str]:
    """Return the most frequent reasons in alphabetical order; none if nothing was rejected."""
    counts = _count_results(total for total in group if is_rejection(total.result))
    highest = max(counts.values(), default=0)
    return sorted(reason for reason, count in counts.items() if count == highest)


def _find_latest(group: Sequence[Total]) -> datetime:
    return max(total.last_at for total in group)


def _count_results(totals: Iterable[Total]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for total in totals:
        counts[total.result] += total.count
    return counts


def _group_totals(totals: Iterable[Total], key: Callable[[Total], Any]) -> Mapping[Any, Sequence[Total]]:
    groups: dict[Any, list[Total]] = defaultdict(list)
    for total in totals:
        groups[key(total)].append(total)
    return groups
