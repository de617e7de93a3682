"""Map rules show an object as a map or with its properties, until they are undone."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from catalog.models import MapRule, Operation
from catalog.rules.locks import lock_operation
from catalog.rules.override_audit import record_override
from catalog.rules.reproject import reproject_rows
from catalog.rules.template_rules_in_force import load_template_rules


@transaction.atomic
def add_map_rule(operation: Operation, part: str, pointer: str, *, as_map: bool, actor: str, now: datetime) -> MapRule:
    """Show the object at `pointer` of a part as a map or with its properties, in past and future observations.

    part: `query`, `request` or a status.

    The rule wins over the similarity of the values. Names that were not kept stay unknown: those that looked like data,
    and all names of an object that had too many.

    If the latest rule in force for this node already says so, return that rule.
    """
    row = lock_operation(operation)
    latest = row.map_rules.filter(part=part, pointer=pointer, undone_at=None).first()
    if latest and latest.as_map == as_map:  # the same form was sent twice at once
        return latest
    rule = MapRule.objects.create(
        environment=row.environment, operation=row, part=part, pointer=pointer, as_map=as_map, at=now, actor=actor
    )
    reproject_rows(row.environment, [row.pk], load_template_rules(row.environment), now=now)
    action = "shown as a map" if as_map else "shown as properties"
    record_override(row, action, actor=actor, now=now, location=rule.location)
    return rule


@transaction.atomic
def undo_map_rule(rule: MapRule, *, actor: str, now: datetime) -> None:
    """Undo the rule: from now on, the pages show what they would show without it. A second time changes nothing."""
    row = lock_operation(rule.operation)
    if MapRule.objects.filter(pk=rule.pk, undone_at=None).update(undone_at=now):
        reproject_rows(row.environment, [row.pk], load_template_rules(row.environment), now=now)
        record_override(row, "map rule undone", actor=actor, now=now, location=rule.location)
