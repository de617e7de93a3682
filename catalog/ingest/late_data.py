"""Late data: what was observed before the day of a baseline reset counts for the epoch before it.

Reporters keep their sums while the hub is unreachable. An observation sums one UTC day, so only whole days can be
assigned: a day before the day of the reset counts as before the reset, whenever it is reported. On the day of the reset
itself, observations that were folded before the reset count as before it, and those folded later as after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from affidavit import Evidence
from affidavit.operations import SECONDS_PER_DAY, DailySums, Identity, OperationSum, OperationSums, Part, part_key
from catalog.evidence.active_resets import list_node_resets
from catalog.evidence.epoch_sums import sum_epochs
from catalog.evidence.parts import parse_epochs, part_of
from catalog.evidence.reported_operation import save_parts
from catalog.evidence.tree import sum_evidence
from catalog.models import BaselineReset, Operation, OperationPart
from workspaces.models import Environment

LateSums = Mapping[Identity, Mapping[int, OperationSum]]
"""The late evidence by operation and epoch; all epochs are before the current one."""


@dataclass
class EpochCalendar:
    """The baseline resets of one operation, undone or not: when its epochs began."""

    operation_id: int
    resets: list[BaselineReset] = field(default_factory=list)

    def epoch_on(self, day: int) -> int:
        """Return the epoch of a day (since 1970-01-01 UTC); the day of a reset belongs to the epoch that it began."""
        days = ((int(reset.at.timestamp()) // SECONDS_PER_DAY, reset.epoch) for reset in self.resets)
        return max((epoch for reset_day, epoch in days if reset_day <= day), default=0)

    @property
    def latest_epoch(self) -> int:
        return max(reset.epoch for reset in self.resets)


def store_late_evidence(
    environment: Environment, calendars: Mapping[Identity, EpochCalendar], daily: DailySums
) -> tuple[OperationSums, LateSums]:
    """Store late evidence in its own epoch. Return the sums that are still to be folded, and the late sums.

    Late observations are still folded, but without their evidence, because statuses, names and times cover all epochs.
    """
    to_fold = OperationSums()
    late: dict[Identity, dict[int, OperationSum]] = {}
    for day, sums in daily:
        for identity, day_sum in sums:
            calendar = calendars.get(identity)
            if calendar is None or (epoch := calendar.epoch_on(day)) == calendar.latest_epoch:
                to_fold.add(identity, day_sum)
            else:
                total = late.setdefault(identity, {}).setdefault(epoch, OperationSum(day_sum.first, day_sum.last))
                total.add(
                    OperationSum(day_sum.first, day_sum.last, statuses=day_sum.statuses, evidence=day_sum.evidence)
                )
                to_fold.add(identity, replace(day_sum, evidence={}))
    for identity, by_epoch in late.items():
        _count_before_resets(calendars[identity].resets, by_epoch)
        _merge_late_parts(environment, calendars[identity].operation_id, by_epoch)
    return to_fold, late


def sum_visible_late(row: Operation, late: LateSums) -> dict[Part, Evidence]:
    """Return the late evidence that is visible on a row: its own, and the evidence of operations shown under it."""
    by_part: dict[Part, list[Evidence]] = {}
    for merged_row in row.merged_rows:
        states = (
            (part, epoch, evidence.to_state())
            for epoch, total in late.get(merged_row.identity, {}).items()
            for part, evidence in total.evidence.items()
        )
        for part, epochs in parse_epochs(merged_row, states).items():
            by_part.setdefault(part, []).append(sum_epochs(epochs, list_node_resets(merged_row, part_key(part)))[0])
    return {part: sum_evidence(evidence) for part, evidence in by_part.items()}


def load_calendars(environment: Environment) -> dict[Identity, EpochCalendar]:
    """Return the calendars of the operations that were ever reset."""
    calendars: dict[Identity, EpochCalendar] = {}
    resets = BaselineReset.objects.filter(environment=environment).select_related("operation")
    for reset in resets.only("at", "epoch", "statuses", "operation__method", "operation__key"):
        row = reset.operation
        calendars.setdefault(row.identity, EpochCalendar(row.pk)).resets.append(reset)
    return calendars


def _count_before_resets(resets: list[BaselineReset], late: Mapping[int, OperationSum]) -> None:
    """Add late observations to the status counts of every reset that they precede."""
    for reset in resets:
        statuses = Counter({int(status): count for status, count in reset.statuses.items()})
        for epoch, total in late.items():
            if epoch < reset.epoch:
                statuses.update(total.statuses)
        reset.statuses = {str(status): statuses[status] for status in sorted(statuses)}
    BaselineReset.objects.bulk_update(resets, ["statuses"])


def _merge_late_parts(environment: Environment, operation_id: int, late: Mapping[int, OperationSum]) -> None:
    rows = OperationPart.objects.filter(environment=environment, operation=operation_id, epoch__in=late)
    totals = {(part_of(row), row.epoch): Evidence.from_state(row.evidence) for row in rows}
    parts = []
    for epoch, epoch_sum in late.items():
        for part, evidence in epoch_sum.evidence.items():
            total = totals.get((part, epoch), Evidence())
            total.add(evidence)
            parts.append(
                OperationPart(
                    environment=environment,
                    operation_id=operation_id,
                    part=part.name,
                    status=part.status,
                    epoch=epoch,
                    evidence=total.to_state(),
                )
            )
    save_parts(parts)
