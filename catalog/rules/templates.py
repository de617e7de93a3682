"""Merge two operations or rename a template by hand: rules that hold for future traffic and can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from affidavit import retemplate
from affidavit.operations import Identity, strip_names
from catalog.evidence.sums import identity_of
from catalog.models import Operation, TemplateRule
from catalog.path_template import MAX_PATH_BYTES, PATH_ERRORS, find_path_errors
from catalog.rules.errors import RuleError
from catalog.rules.queries import load_template_rules
from catalog.rules.reproject import lock_environment, show_again
from catalog.rules.resolution import Rules
from workspaces.audit import record_audit
from workspaces.models import Environment

# What can be wrong with a rule, by code.
TEMPLATE_RULE_ERRORS: Mapping[str, str] = {
    **PATH_ERRORS,
    "segments": "Write as many segments as the template has that is to be shown there.",
    "raw": "A segment reads like a value, a number or an id: make it a parameter, {id} for example.",
    "circle": "Another rule leads from there back to here. Take that back first, on the page of rules.",
}


@transaction.atomic
def add_template_rule(
    environment: Environment, source: str, target: str, *, method: str = "", matching: bool = False, actor: str,
    now: datetime,
) -> TemplateRule:  # fmt: skip
    """Show what was and will be reported under `source` under `target`: a merge, where that is observed itself.

    method: "" for all. matching: whatever else matches the target, too. Raises RuleError.
    """
    if code := find_target_error(source, target):
        raise RuleError(code, TEMPLATE_RULE_ERRORS[code])
    lock_environment(environment)
    before = load_template_rules(environment)
    rule = TemplateRule.objects.create(
        environment=environment, method=method, source=strip_names(source), target=target, matching=matching, at=now,
        actor=actor,
    )  # fmt: skip
    rearrange(environment, before, now=now)
    log(rule, "operations shown under another template", actor=actor, now=now)
    return rule


@transaction.atomic
def revert_template_rule(rule: TemplateRule, *, actor: str, now: datetime) -> None:
    """Show what would have been shown without it; a second time changes nothing. Raises RuleError."""
    lock_environment(rule.environment)
    before = load_template_rules(rule.environment)
    if TemplateRule.objects.filter(pk=rule.pk, reverted_at=None).update(reverted_at=now):
        rearrange(rule.environment, before, now=now)
        log(rule, "template rule taken back", actor=actor, now=now)


def find_target_error(source: str, target: str) -> str:
    """The first thing that is wrong with a target, as a code; "" where nothing is."""
    if len(target) > MAX_PATH_BYTES:
        return "bytes"
    if found := find_path_errors(target):
        return found[0]
    if target.count("/") != source.count("/"):
        return "segments"
    return "raw" if retemplate(target, {}).path != target else ""


def rearrange(environment: Environment, before: Rules, *, now: datetime) -> None:
    """Put every operation where the rules that stand now show it. Raises RuleError where they lead in a circle."""
    after = load_template_rules(environment)
    if after.has_circle:
        raise RuleError("circle", TEMPLATE_RULE_ERRORS["circle"])
    rows = list(Operation.objects.filter(environment=environment).only("method", "key", "shown_under", "first_seen_at"))
    moved = [row for row in rows if before.way(identity_of(row)) != after.way(identity_of(row))]
    places = {identity_of(row): row for row in rows}
    for row in moved:
        place = after.place(identity_of(row))
        if place not in places:
            places[place] = empty_row(environment, place, row)
        row.shown_under = None if places[place] == row else places[place]
    Operation.objects.bulk_update(moved, ["shown_under"])
    touched = {places[rules.place(identity_of(row))].pk for row in moved for rules in (before, after)}
    renamed = {row.pk for row in rows if before.names(identity_of(row)) != after.names(identity_of(row))}
    show_again(environment, touched | renamed | {row.pk for row in moved}, after, now=now)


def empty_row(environment: Environment, place: Identity, shown_there: Operation) -> Operation:
    """A row for a place where nothing was reported yet."""
    return Operation.objects.create(
        environment=environment, method=place.method, key=place.key, reported_facts={}, path=place.key,
        first_seen_at=shown_there.first_seen_at, last_seen_at=shown_there.first_seen_at, begun=False, observations=0,
        properties=0, search="", document="", outline="", document_digest=b"", outline_digest=b"",
    )  # fmt: skip


def log(rule: TemplateRule, action: str, *, actor: str, now: datetime) -> None:
    facts: dict[str, Any] = {
        "environment": rule.environment.name,
        "method": rule.method or "all",
        "source": rule.source,
        "target": rule.target,
        "matching": rule.matching,
    }
    record_audit(rule.environment.workspace_id, action, facts, actor=actor, now=now)
