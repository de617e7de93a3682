"""Map rules: whether an object is shown as a map or with its properties, by hand; taken back, as if it never was."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from catalog.models import MapRule, Operation
from catalog.rules.baseline import held, log
from catalog.rules.queries import load_template_rules
from catalog.rules.reproject import show_again


@transaction.atomic
def add_map_rule(operation: Operation, part: str, pointer: str, *, as_map: bool, actor: str, now: datetime) -> MapRule:
    """Show the object at `pointer` of a part (`query`, `request` or a status) so, now and in time to come.

    It wins over what its values look like. Names that were not kept, for their form or their number, stay unknown.
    """
    row = held(operation)
    rule = MapRule.objects.create(operation=row, part=part, pointer=pointer, as_map=as_map, at=now, actor=actor)
    show_again(row.environment, [row.pk], load_template_rules(row.environment), now=now)
    log(row, "shown as a map" if as_map else "shown as properties", actor=actor, now=now, place=rule.location)
    return rule


@transaction.atomic
def revert_map_rule(rule: MapRule, *, actor: str, now: datetime) -> None:
    """Show what would have been shown without it. A second time changes nothing."""
    row = held(rule.operation)
    if MapRule.objects.filter(pk=rule.pk, reverted_at=None).update(reverted_at=now):
        show_again(row.environment, [row.pk], load_template_rules(row.environment), now=now)
        log(row, "map rule taken back", actor=actor, now=now, place=rule.location)
