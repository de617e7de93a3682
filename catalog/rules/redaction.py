"""Redaction rules by hand: names that reporters mark as sensitive or leave out; they pull them at start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.db import transaction
from django.db.models import Q, QuerySet

from affidavit import retemplate
from catalog.models import RedactionRule
from catalog.rules.errors import RuleError
from workspaces.audit import record_audit
from workspaces.models import Environment

MAX_NAME = 100
WILDCARD = "*"
# What can be wrong with a rule, by code.
REDACTION_RULE_ERRORS: Mapping[str, str] = {
    "kind": "Choose sensitive or drop.",
    "length": f"Write a name of 1 to {MAX_NAME} characters.",
    "control": "Write a name without control characters, and none around it.",
    "all": "This would be every property. Write a part of the name beside the asterisk.",
    "value": "This reads like a value, a number or an id, not like the name of a property.",
}


@transaction.atomic
def add_redaction_rule(
    environment: Environment, kind: str, name: str, *, everywhere: bool = False, actor: str, now: datetime
) -> RedactionRule:
    """From their next start on reporters of this environment redact properties of this name; one that stands, stays.

    everywhere: in all environments of the workspace. Raises RuleError.
    """
    if code := find_redaction_error(kind, name):
        raise RuleError(code, REDACTION_RULE_ERRORS[code])
    environment.hold()
    where: dict[str, Any] = {
        "workspace_id": environment.workspace_id,
        "environment": None if everywhere else environment,
    }
    rule, is_new = RedactionRule.objects.get_or_create(
        **where, kind=kind, name=name, reverted_at=None, defaults={"at": now, "actor": actor}
    )
    if is_new:
        log(rule, "redaction rule added", actor=actor, now=now)
    return rule


@transaction.atomic
def revert_redaction_rule(rule: RedactionRule, *, actor: str, now: datetime) -> None:
    """Reporters that start from now on do without it; a second time changes nothing."""
    for environment in [rule.environment] if rule.environment else rule.workspace.environments.order_by("id"):
        environment.hold()
    if RedactionRule.objects.filter(pk=rule.pk, reverted_at=None).update(reverted_at=now):
        log(rule, "redaction rule taken back", actor=actor, now=now)


def find_redaction_error(kind: str, name: str) -> str:
    """The first thing that is wrong with a rule, as a code; "" where nothing is."""
    checks = {
        "kind": kind not in RedactionRule.KINDS,
        "length": not 0 < len(name) <= MAX_NAME,
        "control": not name.isprintable() or name != name.strip(),
        "all": not name.strip(WILDCARD + " "),
        "value": is_value(name),
    }
    return next((code for code, wrong in checks.items() if wrong), "")


def is_value(name: str) -> bool:
    segment = f"/{quote(name, safe='')}"
    return retemplate(segment, {}).path != segment


def list_redaction_rules(environment: Environment) -> QuerySet[RedactionRule]:
    """Every rule that is or was for this environment, its own and its workspace's, the latest first."""
    here = Q(environment=environment) | Q(environment=None)
    return RedactionRule.objects.filter(here, workspace_id=environment.workspace_id).select_related("environment")


def list_active_redactions(environment: Environment) -> list[dict[str, str]]:
    """The rules that stand, as reporters get them: `{kind, name}`, each once, sorted by both."""
    found = list_redaction_rules(environment).filter(reverted_at=None).values_list("kind", "name")
    return [{"kind": kind, "name": name} for kind, name in sorted(set(found))]


def log(rule: RedactionRule, action: str, *, actor: str, now: datetime) -> None:
    where = rule.environment.name if rule.environment else "all"
    facts = {"environment": where, "kind": rule.kind, "name": rule.name}
    record_audit(rule.workspace_id, action, facts, actor=actor, now=now)
