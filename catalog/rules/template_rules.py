"""Template rules: merge two operations, or rename a template, for past and future traffic."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction

from affidavit import retemplate
from affidavit.operations import Identity, strip_names
from catalog.drift.presence.absence_counters import limit_absences
from catalog.drift.presence.stored_absences import find_absence_row
from catalog.evidence.reported_operation import build_empty_row, load_reported
from catalog.models import Operation, TemplateRule
from catalog.operation_queries import prefetch_evidence, visible_operations
from catalog.path_template import MAX_PATH_BYTES, PATH_ERRORS, find_path_errors
from catalog.rules.errors import RuleError
from catalog.rules.locks import lock_environment
from catalog.rules.reproject import reproject, reproject_rows
from catalog.rules.template_resolution import Rule, RuleSet
from catalog.rules.template_rules_in_force import load_template_rules, name_templates
from workspaces.audit.record import record_audit
from workspaces.models import Environment

# What can be wrong with a rule, by code.
TEMPLATE_RULE_ERRORS: Mapping[str, str] = {
    **PATH_ERRORS,
    "segments": "Write as many segments as the reported template has.",
    "same": "The operation already has this template. Write another one.",
    "raw": "A segment looks like a value, a number or an id. Make it a parameter, such as {id}.",
    "circle": "Another rule leads from there back to here. Undo that rule first.",
}


@transaction.atomic
def add_template_rule(
    environment: Environment,
    source: str,
    target: str,
    *,
    method: str = "",
    matching: bool = False,
    actor: str,
    now: datetime,
) -> TemplateRule:
    """Show under `target` what is reported under `source`. If `target` was reported, too, this merges the two.

    method: the method of the operations, "" for all.
    matching: whether every other template that matches the target is shown there, too.

    If a rule in force already says so, return that rule. Raises RuleError.
    """
    if code := find_target_error(source, target):
        raise RuleError(code, TEMPLATE_RULE_ERRORS[code])
    lock_environment(environment)
    before = load_template_rules(environment)
    new_rule = Rule(before.newest_number + 1, method, strip_names(source), target, matching)
    if same_rule := before.find_same(new_rule):  # a second one would have to be undone, too
        return TemplateRule.objects.get(pk=same_rule.number)
    rule = TemplateRule.objects.create(
        environment=environment,
        method=method,
        source=new_rule.source,
        target=target,
        matching=matching,
        at=now,
        actor=actor,
    )
    move_operations(environment, before, now=now)
    _record_template_rule(rule, "operations shown under another template", actor=actor, now=now)
    return rule


@transaction.atomic
def undo_template_rule(rule: TemplateRule, *, actor: str, now: datetime) -> None:
    """Undo the rule: from now on, the pages show what they would show without it. A second time changes nothing.

    Raises RuleError.
    """
    lock_environment(rule.environment)
    before = load_template_rules(rule.environment)
    if TemplateRule.objects.filter(pk=rule.pk, undone_at=None).update(undone_at=now):
        move_operations(rule.environment, before, now=now)
        _record_template_rule(rule, "template rule undone", actor=actor, now=now)


def find_target_error(source: str, target: str) -> str:
    """Return the code of the first thing that is wrong with a target; "" if nothing is."""
    if len(target) > MAX_PATH_BYTES:
        return "bytes"
    if errors := find_path_errors(target):
        return errors[0]
    if target.count("/") != source.count("/"):
        return "segments"
    return "raw" if retemplate(target, {}).path != target else ""


def move_operations(environment: Environment, before: RuleSet, *, now: datetime) -> None:
    """Store for every operation where the active rules show it now. Raises RuleError if they lead in a circle.

    before: the rules that were active until now.
    """
    after = load_template_rules(environment)
    if after.has_circle:
        raise RuleError("circle", TEMPLATE_RULE_ERRORS["circle"])
    columns = ("method", "key", "shown_under", "first_seen_at")
    rows = {row.identity: row for row in Operation.objects.filter(environment=environment).only(*columns)}
    moved_rows = [rows[key] for key in rows if before.resolution_path(key) != after.resolution_path(key)]
    renamed_row_ids = {rows[key].pk for key in rows if before.find_names(key) != after.find_names(key)}
    for row in moved_rows:
        _set_visible_row(environment, rows, row, after)
    Operation.objects.bulk_update(moved_rows, ["shown_under"])
    visible_row_ids = {rows[rules.visible_identity(row.identity)].pk for row in moved_rows for rules in (before, after)}
    reproject_rows(environment, visible_row_ids | renamed_row_ids | {row.pk for row in moved_rows}, after, now=now)
    _limit_absences(environment, visible_row_ids, after)


def _limit_absences(environment: Environment, row_ids: Collection[int], rules: RuleSet) -> None:
    """Limit the absence counters of these operations by the evidence that is still shown under them.

    Operations that are no longer shown under them may have lacked properties.
    """
    for row in prefetch_evidence(visible_operations(environment).filter(pk__in=row_ids)):
        total = reproject([load_reported(merged_row) for merged_row in row.merged_rows], rules).total
        for part, evidence in total.evidence.items():
            part_row = find_absence_row(row, part)
            if part_row is None or (limited := limit_absences(part_row.absences, evidence)) == part_row.absences:
                continue
            part_row.absences = limited
            part_row.save(update_fields=["absences"])


def _set_visible_row(environment: Environment, rows: dict[Identity, Operation], row: Operation, rules: RuleSet) -> None:
    """Set under which row this one is shown. Create that row if nothing was reported under its template yet."""
    identity = rules.visible_identity(row.identity)
    if identity not in rows:
        rows[identity] = build_empty_row(environment, identity, seen_at=row.first_seen_at)
        rows[identity].save()
    row.shown_under = None if rows[identity] == row else rows[identity]


def _record_template_rule(rule: TemplateRule, action: str, *, actor: str, now: datetime) -> None:
    facts = {
        "environment": rule.environment.name,
        "method": rule.method or "all",
        "source": name_templates(rule.environment, [rule.source]).get(rule.source, rule.source),
        "target": rule.target,
        "matching": rule.matching,
    }
    record_audit(rule.environment.workspace_id, action, facts, actor=actor, now=now)
