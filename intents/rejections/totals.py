"""What a range's totals say, by reason, version and operation (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from intents.reports.tally import is_rejection, narrowed


@dataclass(frozen=True)
class Total:
    """How many verifications of a range share a result, a version and an operation; the last at `last_at`."""

    result: str
    version: int
    operation: str
    count: int
    last_at: datetime


@dataclass(frozen=True)
class Line:
    """One version's, or one operation's, share of a range."""

    name: str | int
    verifications: int
    rejections: int
    reason: str
    last_at: datetime

    @property
    def rate(self) -> float:
        return self.rejections / self.verifications


@dataclass(frozen=True)
class ReasonLine:
    """One reason's share of a range. before: its count in the period before."""

    reason: str
    count: int
    share: float
    before: int
    last_at: datetime


@dataclass(frozen=True)
class VersionShare:
    """How far a workspace is from version 1 to version 2, by verifications that told a version."""

    v1: int
    v2: int

    @property
    def told(self) -> int:
        return self.v1 + self.v2


def verifications(totals: Iterable[Total]) -> int:
    return sum(total.count for total in totals)


def rejections(totals: Iterable[Total]) -> int:
    return verifications(total for total in totals if is_rejection(total.result))


def of_reason(totals: Iterable[Total], reason: str) -> Sequence[Total]:
    """As if other reasons did not exist; what they rejected still counts as verified."""
    return [replace(total, result=narrowed(total.result, reason)) for total in totals]


def by_reason(totals: Sequence[Total], before: Sequence[Total]) -> Sequence[ReasonLine]:
    """The most frequent first; alike by name."""
    rejected = rejections(totals)
    earlier = counted(before, lambda total: total.result)
    lines = [
        ReasonLine(reason, count, count / rejected, earlier[reason], latest(group))
        for reason, group in grouped(totals, lambda total: total.result)
        if is_rejection(reason) and (count := verifications(group))
    ]
    return sorted(lines, key=lambda line: (-line.count, line.reason))


def by_version(totals: Sequence[Total]) -> Sequence[Line]:
    """The newest first; what told no version last."""
    lines = [line(name, group) for name, group in grouped(totals, lambda total: total.version)]
    return sorted(lines, key=lambda each: -int(each.name))


def version_share(totals: Sequence[Total]) -> VersionShare:
    counts = {version: verifications(group) for version, group in grouped(totals, lambda total: total.version)}
    return VersionShare(v1=counts.get(1, 0), v2=counts.get(2, 0))


def by_operation(totals: Sequence[Total]) -> Sequence[Line]:
    """The most rejected first, then the most verified; alike by name."""
    lines = [line(name, group) for name, group in grouped(totals, lambda total: total.operation)]
    return sorted(lines, key=lambda each: (-each.rejections, -each.verifications, each.name))


def line(name: str | int, group: Sequence[Total]) -> Line:
    return Line(name, verifications(group), rejections(group), main_reason(group), latest(group))


def main_reason(group: Sequence[Total]) -> str:
    """The reason that rejected most; empty where nothing was rejected."""
    counts = counted((total for total in group if is_rejection(total.result)), lambda total: total.result)
    return min(counts, key=lambda reason: (-counts[reason], reason), default="")


def latest(group: Sequence[Total]) -> datetime:
    return max(total.last_at for total in group)


def counted(totals: Iterable[Total], key: Callable[[Total], str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for total in totals:
        counts[key(total)] += total.count
    return counts


def grouped(totals: Iterable[Total], key: Callable[[Total], Any]) -> Iterable[tuple[Any, Sequence[Total]]]:
    groups: dict[Any, list[Total]] = defaultdict(list)
    for total in totals:
        groups[key(total)].append(total)
    return groups.items()
