"""Redaction rules: names that reporters mark as sensitive or leave out. Reporters pull the rules at start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from affidavit import Redactor, describe, infer
from catalog.models import RedactionRule
from catalog.rules.errors import RuleError
from workspaces.audit.record import record_audit
from workspaces.models import Environment

MAX_NAME = 100
WILDCARD = "*"
# What can be wrong with a rule, by code.
REDACTION_RULE_ERRORS: Mapping[str, str] = {
    "kind": "Choose sensitive or drop.",
    "length": f"Write a name of 1 to {MAX_NAME} characters.",
    "control": "Write a name without control characters or surrounding spaces.",
    "all": "This matches every property. Add a part of the name to the asterisk.",
    "signs": "Write a letter or a digit: signs count for nothing, so this would match other names, too.",
    "same": "There is already such a rule.",
    "value": "This looks like a value, a number or an id. Write the name of a property.",
}


@transaction.atomic
def add_redaction_rule(
    environment: Environment, kind: str, name: str, *, everywhere: bool = False, actor: str, now: datetime
) -> RedactionRule:
    """Let reporters of this environment redact properties of this name, from their next start on.

    everywhere: whether the rule is for all environments of the workspace.

    Raises RuleError; one reason is that an active rule says the same.
    """
    if code := find_redaction_error(kind, name):
        raise RuleError(code, REDACTION_RULE_ERRORS[code])
    environment.hold()
    # Without this lock, two requests at once would both find no such rule, and both add it.
    environment.workspace.lock()
    members = {
        "workspace_id": environment.workspace_id,
        "environment": None if everywhere else environment,
        "kind": kind,
        "undone_at": None,
    }
    names = RedactionRule.objects.filter(**members).values_list("name", flat=True)
    if any(_is_same_name(name, other) for other in names):
        raise RuleError("same", REDACTION_RULE_ERRORS["same"])
    rule = RedactionRule.objects.create(**members, name=name, at=now, actor=actor)
    _record_redaction_rule(rule, "redaction rule added", actor=actor, now=now)
    return rule


@transaction.atomic
def undo_redaction_rule(rule: RedactionRule, *, actor: str, now: datetime) -> None:
    """Undo the rule for reporters that start from now on. A second time changes nothing."""
    for environment in [rule.environment] if rule.environment else rule.workspace.environments.order_by("id"):
        environment.hold()
    if RedactionRule.objects.filter(pk=rule.pk, undone_at=None).update(undone_at=now):
        _record_redaction_rule(rule, "redaction rule undone", actor=actor, now=now)


def find_redaction_error(kind: str, name: str) -> str:
    """Return the code of the first thing that is wrong with a rule; "" if nothing is."""
    checks = {
        "kind": kind not in RedactionRule.KINDS,
        "length": not 0 < len(name) <= MAX_NAME,
        "control": not name.isprintable() or name != name.strip(),
        "all": not name.strip(WILDCARD + " "),
        "signs": not any(map(str.isalnum, name)),
        "value": _is_value(name),
    }
    return next((code for code, is_wrong in checks.items() if is_wrong), "")


def _is_value(name: str) -> bool:
    """Return whether reporters keep no property of this name, because it looks like data (contract §4)."""
    return "values" in describe(infer({name: ""}))


def _is_same_name(name: str, other: str) -> bool:
    """Return whether two names are the same in another spelling, as reporters match them; with `*`, only if equal."""
    return name == other or (WILDCARD not in name + other and Redactor(drop=[name]).drops(other))


def list_redaction_rules(environment: Environment) -> QuerySet[RedactionRule]:
    """Return all rules of this environment and of its workspace, undone or not, the latest first."""
    rules = RedactionRule.objects.filter(workspace_id=environment.workspace_id)
    return rules.filter(Q(environment=environment) | Q(environment=None)).select_related("environment")


def list_active_redactions(environment: Environment) -> list[dict[str, str]]:
    """Return the active rules as reporters get them: `{kind, name}`, each once, sorted by both."""
    active = list_redaction_rules(environment).filter(undone_at=None).values_list("kind", "name")
    return [{"kind": kind, "name": name} for kind, name in sorted(set(active))]


def _record_redaction_rule(rule: RedactionRule, action: str, *, actor: str, now: datetime) -> None:
    environment_name = rule.environment.name if rule.environment else "all"
    facts = {"environment": environment_name, "kind": rule.kind, "name": rule.name}
    record_audit(rule.workspace_id, action, facts, actor=actor, now=now)
