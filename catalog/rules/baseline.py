"""Start afresh: learn the shapes of an operation anew, after a change on purpose; taken back, as if it never was.

Evidence is kept by epoch. A fresh start begins one and hides those before, in projection only: what is shown is the
sum over the epochs from the last fresh start on that holds. One of a node hides what they hold of that node.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from catalog import queries
from catalog.evidence.sums import facts_of_row, identity_of
from catalog.models import BaselineReset, Operation
from catalog.rules.queries import load_template_rules
from catalog.rules.reproject import lock_environment, show_again
from catalog.rules.resolution import Rules
from workspaces.audit import record_audit


@transaction.atomic
def reset_baseline(
    operation: Operation, *, part: str = "", pointer: str = "", actor: str, now: datetime
) -> BaselineReset:
    """From now on only what comes is shown. Statuses, times and counts of observations stay.

    part: only of that one (`query`, `request` or a status), and of the node at `pointer` in it. The same goes for
    what is shown under this operation, for as long as it is; and for what would be if some rules were taken back.
    """
    row = held(operation)
    rules = load_template_rules(row.environment)
    told = {"part": part, "pointer": pointer, "at": now, "actor": actor, "newest_rule": rules.newest}
    start = begin_epoch(row, BaselineReset(**told))
    others = could_be_shown_under(row, rules)
    for other in others:
        begin_epoch(other, BaselineReset(**told, through=start))
    show_again(row.environment, [one.pk for one in (row, *others)], rules, now=now)
    log(row, "operation started afresh", actor=actor, now=now, place=start.location)
    return start


@transaction.atomic
def revert_baseline_reset(start: BaselineReset, *, actor: str, now: datetime) -> None:
    """Show what would have been shown without it. A second time changes nothing."""
    row = held(start.operation)
    reached = BaselineReset.objects.filter(Q(pk=start.pk) | Q(through=start))
    if reached.filter(reverted_at=None).update(reverted_at=now):
        touched = Operation.objects.filter(baseline_resets__in=reached)
        places = touched.values_list("pk", "shown_under_id")
        rows = {pk for pair in places for pk in pair if pk}
        show_again(row.environment, rows, load_template_rules(row.environment), now=now)
        log(row, "fresh start taken back", actor=actor, now=now, place=start.location)


def could_be_shown_under(row: Operation, rules: Rules) -> list[Operation]:
    place = identity_of(row)
    if not rules.speak_of(place):
        return []
    others = Operation.objects.filter(environment=row.environment, method=row.method).exclude(pk=row.pk)
    known = others.only("method", "key")
    found = [other.pk for other in known if place in rules.reachable(identity_of(other))]
    return list(others.filter(pk__in=found).defer(*queries.LARGE_TEXTS))


def held(operation: Operation) -> Operation:
    """The row as it is now, in a transaction in which no fold can touch it."""
    lock_environment(operation.environment)
    rows = Operation.objects.select_related("environment").prefetch_related("shown_here")
    return rows.get(pk=operation.pk)


def begin_epoch(row: Operation, start: BaselineReset) -> BaselineReset:
    """What comes from now on is kept apart from what came before."""
    row.epoch += 1
    row.save(update_fields=["epoch"])
    start.operation, start.epoch, start.statuses = row, row.epoch, facts_of_row(row).get("statuses", {})
    start.save()
    return start


def log(row: Operation, action: str, *, actor: str, now: datetime, place: str = "") -> None:
    facts = {"environment": row.environment.name, "operation": str(row)} | ({"place": place} if place else {})
    record_audit(row.environment.workspace_id, action, facts, actor=actor, now=now)
