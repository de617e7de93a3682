"""Project operations: each shows the sum of the evidence of its own template and of the templates merged into it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import NamedTuple

from affidavit.operations import Identity, OperationSum
from catalog.evidence.active_map_rules import PartMaps, apply_map_rules, load_map_rules
from catalog.evidence.projection import project
from catalog.evidence.reported_operation import ReportedOperation, load_reported
from catalog.models import BaselineReset, Operation, OperationVersion
from catalog.operation_queries import prefetch_evidence
from catalog.rules.template_resolution import RuleSet
from workspaces.models import Environment


class VisibleSum(NamedTuple):
    """All visible evidence of an operation, with maps applied."""

    total: OperationSum
    maps: PartMaps


def reproject(operations: Sequence[ReportedOperation], rules: RuleSet) -> VisibleSum:
    """Set the projection of a row and return its visible sum; an empty sum if nothing is shown there any more.

    operations: the evidence of the row's own template, then of each template that rules show there.

    This function saves nothing.
    """
    own = operations[0]
    row = own.row
    row.reported_facts = own.facts if rules.applies_to(row.identity) else None
    sums = ((operation.row.key, total) for operation in operations if (total := operation.sum_visible()))
    total = rules.sum_under(row.identity, sums)
    if not total.statuses:
        clear_projection(row)
        return VisibleSum(total, {})
    total.evidence, maps = apply_map_rules(total.evidence, load_map_rules(row))
    apply_projection(row, total)
    return VisibleSum(total, maps)


def apply_projection(row: Operation, total: OperationSum) -> None:
    row.first_seen_at = datetime.fromtimestamp(total.first, UTC)
    row.last_seen_at = datetime.fromtimestamp(total.last, UTC)
    for name, value in (total.to_facts() | asdict(project(row.identity, total))).items():
        setattr(row, name, value)


def clear_projection(row: Operation) -> None:
    """Clear a row that was created for a rule and has no reports of its own."""
    row.begun, row.observations = False, 0
    row.statuses, row.names, row.types, row.undecided, row.media_types = {}, [], [], {}, {}


def reproject_rows(environment: Environment, row_ids: Collection[int], rules: RuleSet, *, now: datetime) -> None:
    """Project these rows again after a manual override. The caller holds the lock of the environment.

    A changed outline becomes a version that is marked as an override; it is never drift. If an override made the last
    version, undoing the override deletes that version.
    """
    rows = Operation.objects.filter(environment=environment, pk__in=row_ids).order_by("pk")
    for row in rows.only("method", "key", "shown_from").prefetch_related("baseline_resets__through__operation"):
        _update_reach(row, rules)
    for row in prefetch_evidence(rows):
        reproject([load_reported(merged_row) for merged_row in row.merged_rows], rules)
        _add_version(row, now=now)
        row.save()


def _update_reach(row: Operation, rules: RuleSet) -> None:
    """Store which baseline resets of a row are active where it is shown now, if that changed."""
    resets = list(row.baseline_resets.all())
    changed_resets = [reset for reset in resets if reset.in_reach != _is_in_reach(reset, row, rules)]
    for reset in changed_resets:
        reset.in_reach = not reset.in_reach
    BaselineReset.objects.bulk_update(changed_resets, ["in_reach"])
    shown_from = max((reset.epoch for reset in resets if reset.is_active and not reset.part), default=0)
    if row.shown_from != shown_from:
        row.shown_from = shown_from
        row.save(update_fields=["shown_from"])


def _is_in_reach(reset: BaselineReset, row: Operation, rules: RuleSet) -> bool:
    """Return whether a reset applies to this row.

    It does if it was set on this row, or on an operation under which this row is shown by rules that were made before
    the reset and are still active.
    """
    if reset.through is None:
        return True
    for rule in rules.resolution_path(row.identity):
        if rule.number > reset.newest_rule:
            return False
        if Identity(row.method, rule.target_key) == reset.through.operation.identity:
            return True
    return False


def _add_version(row: Operation, *, now: datetime) -> None:
    """Store the changed outline of a visible row as its next version, or delete the version that it undoes."""
    if not row.begun or row.shown_under_id is not None:
        return
    latest, previous = _load_last_versions(row)
    if latest is not None and latest.outline == row.outline:
        return
    if latest is not None and previous is not None and _is_undone(latest, previous, row):
        latest.delete()
        row.version = previous.number
        return
    row.version += 1
    OperationVersion.objects.create(
        environment_id=row.environment_id,
        operation=row,
        number=row.version,
        at=now,
        since=now,
        observations=row.observations,
        outline=row.outline,
        by_hand=True,
    )


def _is_undone(latest: OperationVersion, previous: OperationVersion, row: Operation) -> bool:
    """Return whether an override made the last version, and the row is again as it was before.

    A version that has drift is kept.
    """
    is_override = latest.by_hand and previous.outline == row.outline
    return is_override and not row.drift.filter(version=latest.number).exists()


def _load_last_versions(row: Operation) -> tuple[OperationVersion | None, OperationVersion | None]:
    """Return the last version and the one before it, if they exist."""
    latest, previous, *_ = [*row.versions.all()[:2], None, None]
    return latest, previous
