"""Baseline resets: learn the shapes of an operation anew after an intended change, until the reset is undone.

Evidence is kept by epoch. A reset begins an epoch and hides those before it, in projection only: what is shown is the
sum of the epochs since the latest active reset. The reset of a node hides that node's evidence of earlier epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from catalog.evidence.reported_operation import read_facts
from catalog.models import BaselineReset, Operation
from catalog.operation_queries import LARGE_TEXTS
from catalog.rules.locks import lock_operation
from catalog.rules.override_audit import record_override
from catalog.rules.reproject import reproject_rows
from catalog.rules.template_resolution import RuleSet
from catalog.rules.template_rules_in_force import load_template_rules


@transaction.atomic
def reset_baseline(
    operation: Operation, *, part: str = "", pointer: str = "", actor: str, now: datetime
) -> BaselineReset:
    """Show only evidence that arrives from now on. Statuses, times and counts of observations stay.

    part: `query`, `request` or a status, to reset only the node at `pointer` in this part; "" for the whole operation.

    Operations that are shown under this one, or would be if rules were undone, are reset too, for as long as they are
    shown here.

    If nothing was observed since the same was reset, return that reset.
    """
    row = lock_operation(operation)
    rules = load_template_rules(row.environment)
    members = _list_possible_members(row, rules)
    if repeated_reset := _find_unobserved_reset([row, *members], part, pointer):
        return repeated_reset

    def begin_epoch(target: Operation, through: BaselineReset | None) -> BaselineReset:
        target.epoch += 1
        target.save(update_fields=["epoch"])
        return BaselineReset.objects.create(
            environment=target.environment,
            operation=target,
            part=part,
            pointer=pointer,
            epoch=target.epoch,
            statuses=read_facts(target).get("statuses", {}),
            through=through,
            newest_rule=rules.newest_number,
            at=now,
            actor=actor,
        )

    reset = begin_epoch(row, None)
    for member in members:
        begin_epoch(member, reset)
    reproject_rows(row.environment, [target.pk for target in (row, *members)], rules, now=now)
    record_override(row, "baseline reset", actor=actor, now=now, location=reset.location)
    return reset


@transaction.atomic
def undo_baseline_reset(reset: BaselineReset, *, actor: str, now: datetime) -> None:
    """Undo the reset: from now on, the pages show what they would show without it. A second time changes nothing."""
    row = lock_operation(reset.operation)
    resets = BaselineReset.objects.filter(Q(pk=reset.pk) | Q(through=reset))
    if resets.filter(undone_at=None).update(undone_at=now):
        operations = Operation.objects.filter(baseline_resets__in=resets).values_list("pk", "shown_under_id")
        row_ids = {pk for ids in operations for pk in ids if pk}
        reproject_rows(row.environment, row_ids, load_template_rules(row.environment), now=now)
        record_override(row, "baseline reset undone", actor=actor, now=now, location=reset.location)


def _find_unobserved_reset(targets: Sequence[Operation], part: str, pointer: str) -> BaselineReset | None:
    """Return the last reset of the first target if it reset the same, and no target was observed since; else None.

    It is found if a form is sent twice at once.
    """
    row = targets[0]
    own_resets = row.baseline_resets.filter(epoch=row.epoch, through=None, undone_at=None)
    latest = own_resets.filter(part=part, pointer=pointer).first()
    if latest is None:
        return None
    resets = BaselineReset.objects.filter(Q(pk=latest.pk) | Q(through=latest))
    states = {reset.operation_id: (reset.epoch, reset.statuses) for reset in resets}
    is_unobserved = all(
        states.get(target.pk) == (target.epoch, read_facts(target).get("statuses", {})) for target in targets
    )
    return latest if is_unobserved else None


def _list_possible_members(row: Operation, rules: RuleSet) -> list[Operation]:
    """Return the operations that are shown under this one, or would be if some of the rules were undone."""
    if not rules.applies_to(row.identity):
        return []
    candidates = Operation.objects.filter(environment=row.environment, method=row.method).exclude(pk=row.pk)
    identities = candidates.only("method", "key")
    members = [member.pk for member in identities if row.identity in rules.list_reachable(member.identity)]
    return list(candidates.filter(pk__in=members).defer(*LARGE_TEXTS))
