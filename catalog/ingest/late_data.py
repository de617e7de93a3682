"""Reports that come late: what was observed before the day of a fresh start counts for the epoch before it.

Reporters keep their sums while the hub is away. An observation sums one UTC day, so only days can be told apart: those
before the day of the start belong before it, whenever they are reported. On that day itself arrival decides: what was
folded by then was before, what is folded later comes after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from affidavit import Evidence
from affidavit.operations import DailySums, Identity, OperationSum, OperationSums, Part
from catalog.evidence.epochs import from_epochs, summed
from catalog.evidence.parts import held_of
from catalog.evidence.sums import identity_of
from catalog.models import PART_IDENTITY, BaselineReset, Operation, OperationPart
from catalog.queries import LARGE_TEXTS
from workspaces.models import Environment

SECONDS_PER_DAY = 86400

Late = Mapping[Identity, Mapping[int, OperationSum]]
"""By operation and epoch."""


@dataclass
class Epochs:
    """The fresh starts of one operation, taken back or not: when its epochs began."""

    operation: int
    starts: list[BaselineReset] = field(default_factory=list)

    def on(self, day: int) -> int:
        """The epoch of a day (since 1970-01-01 UTC); the day of a start belongs to the epoch that it began."""
        return max((start.epoch for start in self.starts if day_of(start) <= day), default=0)

    @property
    def latest(self) -> int:
        return max(start.epoch for start in self.starts)


def day_of(start: BaselineReset) -> int:
    return int(start.at.timestamp()) // SECONDS_PER_DAY


def put_in_place(environment: Environment, daily: DailySums) -> tuple[OperationSums, Late]:
    """Store evidence that came late where it belongs. Returns what is to be folded, and what of it was late.

    Of what was late only the counts are to be folded: statuses, names and times are those of all epochs.
    """
    epochs = epochs_of(environment)
    rest = OperationSums()
    late: dict[Identity, dict[int, OperationSum]] = {}
    for day, sums in daily:
        for identity, came in sums:
            own = epochs.get(identity)
            if own is None or (epoch := own.on(day)) == own.latest:
                rest.add(identity, came)
            else:
                held = late.setdefault(identity, {}).setdefault(epoch, OperationSum(came.first, came.last))
                held.add(OperationSum(came.first, came.last, statuses=came.statuses, evidence=came.evidence))
                rest.add(identity, replace(came, evidence={}))
    for identity, by_epoch in late.items():
        count(epochs[identity].starts, by_epoch)
        store(epochs[identity].operation, by_epoch)
    return rest, late


def epochs_of(environment: Environment) -> dict[Identity, Epochs]:
    """Of the operations that were ever started afresh."""
    found: dict[Identity, Epochs] = {}
    starts = BaselineReset.objects.filter(operation__environment=environment).select_related("operation")
    for start in starts.defer(*(f"operation__{text}" for text in LARGE_TEXTS)):
        row = start.operation
        found.setdefault(identity_of(row), Epochs(row.pk)).starts.append(start)
    return found


def count(starts: Iterable[BaselineReset], late: Mapping[int, OperationSum]) -> None:
    """Each start counts what was observed before it."""
    for start in starts:
        statuses = Counter({int(status): times for status, times in start.statuses.items()})
        for epoch, came in late.items():
            if epoch < start.epoch:
                statuses.update(came.statuses)
        start.statuses = {str(status): statuses[status] for status in sorted(statuses)}
    BaselineReset.objects.bulk_update(starts, ["statuses"])


def store(operation: int, late: Mapping[int, OperationSum]) -> None:
    rows = OperationPart.objects.filter(operation=operation, epoch__in=late)
    stored = {(Part(row.part, row.status), row.epoch): row for row in rows}
    changed = []
    for epoch, came in late.items():
        for part, evidence in came.evidence.items():
            row = stored.get((part, epoch)) or empty_part(operation, part, epoch)
            total = Evidence.from_state(row.evidence)
            total.add(evidence)
            row.evidence = total.to_state()
            changed.append(row)
    OperationPart.objects.bulk_create(
        changed, update_conflicts=True, unique_fields=PART_IDENTITY, update_fields=["evidence"]
    )


def empty_part(operation: int, part: Part, epoch: int) -> OperationPart:
    return OperationPart(operation_id=operation, part=part.name, status=part.status, epoch=epoch, evidence={})


def shown_late(row: Operation, late: Late) -> dict[Part, Evidence]:
    """What is shown on a row of all that came late: of itself and of what is shown under it."""
    found: dict[Part, list[Evidence]] = {}
    for one in row.merged_rows:
        by_epoch = late.get(identity_of(one), {})
        states = (
            (part, epoch, evidence.to_state())
            for epoch, came in by_epoch.items()
            for part, evidence in came.evidence.items()
        )
        for part, held in held_of(one, states).items():
            found.setdefault(part, []).append(from_epochs(*held)[0])
    return {part: summed(parts) for part, parts in found.items()}
