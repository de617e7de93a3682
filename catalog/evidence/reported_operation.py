"""The evidence reported under an operation's own template, without the evidence that template rules show there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from affidavit import Evidence
from affidavit.operations import Identity, OperationSum, Part, part_key
from catalog.evidence.active_resets import list_node_resets
from catalog.evidence.epoch_sums import sum_epochs
from catalog.evidence.parts import load_epochs
from catalog.models import PART_IDENTITY, Operation, OperationPart
from workspaces.models import Environment


@dataclass
class ReportedOperation:
    """The row of an operation with the counts of all time and the evidence that were reported under its own template.

    counts: the counts without evidence; None if nothing was reported.
    epochs: the visible evidence by part and epoch.
    changed_parts: the parts to which evidence was added.
    """

    row: Operation
    counts: OperationSum | None
    epochs: dict[Part, dict[int, Evidence]]
    changed_parts: set[Part] = field(default_factory=set)

    @property
    def facts(self) -> dict[str, Any]:
        """Return the counts as `Operation.reported_facts` keeps them; {} if nothing was reported."""
        if self.counts is None:
            return {}
        return {"first": self.counts.first, "last": self.counts.last, **self.counts.to_facts()}

    def add(self, new_sum: OperationSum) -> None:
        """Merge a sum into the counts and the evidence of the current epoch. Do not change `new_sum` afterwards."""
        counts = replace(new_sum, evidence={})
        if self.counts is not None:
            self.counts.add(counts)
        else:
            self.counts = counts
        for part, evidence in new_sum.evidence.items():
            epochs = self.epochs.setdefault(part, {})
            if self.row.epoch in epochs:
                epochs[self.row.epoch].add(evidence)
            else:
                epochs[self.row.epoch] = evidence
        self.changed_parts.update(new_sum.evidence)

    def sum_visible(self) -> OperationSum | None:
        """Return the counts with the visible evidence, before map rules are applied; None if there are none."""
        if self.counts is None:
            return None
        evidence = {
            part: sum_epochs(epochs, list_node_resets(self.row, part_key(part)))[0]
            for part, epochs in self.epochs.items()
        }
        return replace(self.counts, evidence=evidence)

    def build_part_row(self, part: Part) -> OperationPart:
        """Return the row of a part's evidence in the current epoch; the evidence is empty if nothing was reported."""
        evidence = self.epochs.get(part, {}).get(self.row.epoch, Evidence())
        return OperationPart(
            environment_id=self.row.environment_id,
            operation=self.row,
            part=part.name,
            status=part.status,
            epoch=self.row.epoch,
            evidence=evidence.to_state(),
        )


def build_empty_row(environment: Environment, identity: Identity, *, seen_at: datetime) -> Operation:
    """Return a new row on which nothing is shown yet.

    seen_at: both first_seen_at and last_seen_at.
    """
    return Operation(
        environment=environment,
        method=identity.method,
        key=identity.key,
        reported_facts={},
        first_seen_at=seen_at,
        last_seen_at=seen_at,
        path=identity.key,
        begun=False,
        observations=0,
        properties=0,
        search="",
        document="",
        outline="",
        document_digest=b"",
        outline_digest=b"",
    )


def load_reported(row: Operation) -> ReportedOperation:
    facts = read_facts(row)
    counts = OperationSum.from_state({**facts, "parts": []}) if facts.get("statuses") else None
    return ReportedOperation(row, counts, load_epochs(row))


def read_facts(row: Operation) -> Mapping[str, Any]:
    """Return the counts that were reported under a row's own template, as `Operation.reported_facts` keeps them."""
    facts: Mapping[str, Any] | None = row.reported_facts
    if facts is not None:
        return facts
    return {
        "first": int(row.first_seen_at.timestamp()),
        "last": int(row.last_seen_at.timestamp()),
        "statuses": row.statuses,
        "names": row.names,
        "types": row.types,
        "undecided": row.undecided,
        "media_types": row.media_types,
    }


def save_parts(rows: Iterable[OperationPart], *, fields: Iterable[str] = ("evidence",)) -> None:
    """Insert these rows, or overwrite the named fields of those that exist."""
    OperationPart.objects.bulk_create(
        list(rows), update_conflicts=True, unique_fields=PART_IDENTITY, update_fields=list(fields)
    )
