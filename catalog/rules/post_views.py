"""The forms of an operation's page and of the rules page, for signed-in editors only, never for API keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone

from catalog.evidence.nodes import Node
from catalog.evidence.parts import build_part_shapes, list_part_nodes
from catalog.models import HintRule, Operation
from catalog.operation_queries import find_operation
from catalog.rules import baseline_resets, hint_rules, map_rules, redaction_rules, template_rules
from catalog.rules.errors import RuleError
from catalog.rules.views import RULE_KINDS
from wire.address_members import read_text
from wire.errors import InvalidRequest, NotFound
from workspaces.models import Environment, Membership
from workspaces.pages.form_answers import member_form, return_to_page

# The fragment of the operation's page that shows the rules of a kind
FRAGMENTS = {
    "template-rules": "template",
    "fresh-starts": "baseline",
    "map-rules": "map-rules",
    "hint-rules": "hints",
}
UNDO_FUNCTIONS: Mapping[str, Callable[..., None]] = {
    "template-rules": template_rules.undo_template_rule,
    "fresh-starts": baseline_resets.undo_baseline_reset,
    "map-rules": map_rules.undo_map_rule,
    "hint-rules": hint_rules.undo_hint_rule,
    "redaction-rules": redaction_rules.undo_redaction_rule,
}


@member_form(Membership.EDITOR)
def post_baseline_reset(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    """Learn the shapes of the operation `method` `path` anew; with `part`, only that of the node at `pointer`."""
    operation = require_operation(request, environment)
    part, pointer = "", ""
    if request.POST.get("part"):
        part, node = require_node(request, operation)
        pointer, is_empty = node.pointer, node.is_reset and not node.seen
    else:
        is_empty = operation.shown_from > 0 and not any(shape.evidence.seen for shape in build_part_shapes(operation))
    if is_empty:
        return refuse_override(request, operation, "reset", fragment="field" if part else "baseline")
    baseline_resets.reset_baseline(operation, part=part, pointer=pointer, **stamp(request))
    return return_to_operation(request, operation, part, pointer, fragment="field" if part else "baseline")


@member_form(Membership.EDITOR)
def post_map_rule(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    """Show the object at `part` and `pointer` as a map or with its properties, whatever its values look like."""
    operation = require_operation(request, environment)
    part, node = require_node(request, operation)
    as_map = {"map": True, "properties": False}.get(request.POST.get("as", ""))
    if as_map is None:
        raise InvalidRequest("Send as=map or as=properties.")
    if not node.is_object:
        detail = "No object was observed in this field. Choose a field of type object or map."
        raise InvalidRequest(detail)
    if as_map == bool(node.map_names):
        return refuse_override(request, operation, "map" if as_map else "properties", fragment="field")
    map_rules.add_map_rule(operation, part, node.pointer, as_map=as_map, **stamp(request))
    return return_to_operation(request, operation, part, node.pointer, fragment="field")


@member_form(Membership.EDITOR)
def post_hint_rule(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    """Set a hint of the operation's tool to `value`, whatever its method implies."""
    operation = require_operation(request, environment)
    hint, value = request.POST.get("hint", ""), {"true": True, "false": False}.get(request.POST.get("value", ""))
    if hint not in HintRule.HINTS or value is None:
        raise InvalidRequest(
            f"Send hint={', '.join(HintRule.HINTS[:-1])} or {HintRule.HINTS[-1]}, and value=true or false."
        )
    latest = hint_rules.list_operation_hints(operation).filter(hint=hint).first()
    if latest and latest.value == value:
        return refuse_override(request, operation, "hint", fragment="hints")
    hint_rules.add_hint_rule(operation, hint, value, **stamp(request))
    return return_to_operation(request, operation, fragment="hints")


@member_form(Membership.EDITOR)
def post_template_rule(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    """Show the template `path` under the template `target`, and go there; with a fault, go back to the form."""
    operation = require_operation(request, environment)
    form = request.POST
    path, target = read_text(form, "path"), form.get("target", "").strip()
    method, matching = operation.method if form.get("only") else "", bool(form.get("matching"))
    try:
        if path == target == operation.path and not matching:
            raise RuleError("same", template_rules.TEMPLATE_RULE_ERRORS["same"])
        template_rules.add_template_rule(
            operation.environment, path, target, method=method, matching=matching, **stamp(request)
        )
    except RuleError as fault:
        # A target that looks like a value is left out of the address, because addresses are logged.
        members = {"path": path, "target": "" if fault.reason == "raw" else target, "fault": fault.reason}
        members |= {name: form.get(name, "") for name in ("only", "matching")}
    else:
        members = {"path": target}
    cleared_members = dict.fromkeys(("as", "target", "only", "matching"))
    query = {**cleared_members, "method": operation.method, **members}
    return return_to_page(request, "operation", operation.environment, query, fragment="template")


@member_form(Membership.EDITOR)
def post_redaction_rule(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    """Redact the property `name` as `kind` says, in this environment or `everywhere`; then go back to the page."""
    form = {name: request.POST.get(name, "") for name in ("kind", "name", "everywhere")}
    try:
        redaction_rules.add_redaction_rule(
            environment, form["kind"], form["name"], everywhere=bool(form["everywhere"]), **stamp(request)
        )
    except RuleError as fault:
        if fault.reason == "value":  # leave it out of the address, because addresses are logged
            form["name"] = ""
        members = {"fault": fault.reason, **form}
        return return_to_page(request, "rules", environment, members, fragment="redaction-rules")
    return return_to_page(request, "rules", environment, dict.fromkeys(form), fragment="redaction-rules")


@member_form(Membership.EDITOR)
def post_undo(request: HttpRequest, environment: Environment, kind: str, pk: int) -> HttpResponseRedirect:
    """Undo one rule, from the page of rules or the page of the operation `method` `path`.

    A second time changes nothing.
    """
    operation = require_operation(request, environment) if request.POST.get("path") else None
    rule_kind = next((rule_kind for rule_kind in RULE_KINDS if rule_kind.name == kind), None)
    if rule_kind is None:
        raise Http404
    rule = get_object_or_404(rule_kind.list_rules(environment), pk=pk)
    try:
        UNDO_FUNCTIONS[kind](rule, **stamp(request))
    except RuleError as fault:
        return return_to_page(request, "rules", environment, {"fault": fault.reason}, fragment=kind)
    is_on_page = kind in FRAGMENTS and operation and find_operation(environment, operation.method, operation.path)
    if operation is None or not is_on_page:
        return return_to_page(request, "rules", environment, {}, fragment=kind)
    return return_to_operation(request, operation, fragment=FRAGMENTS[kind])


def require_operation(request: HttpRequest, environment: Environment) -> Operation:
    """Return the operation that the form names; raises NotFound if its environment has none."""
    operation = find_operation(environment, read_text(request.POST, "method"), read_text(request.POST, "path"))
    if operation is None:
        raise NotFound("This environment has no such operation. Look for it in the catalog.")
    return operation


def require_node(request: HttpRequest, operation: Operation) -> tuple[str, Node]:
    """Return the part and the node that the form names; raises NotFound if the page shows no such node."""
    part, pointer = request.POST.get("part", ""), request.POST.get("pointer", "")
    for shape in build_part_shapes(operation):
        for node in list_part_nodes(shape) if shape.key == part else ():
            if node.pointer == pointer:
                return part, node
    raise NotFound("This operation has no such field. Choose one on its page.")


def stamp(request: HttpRequest) -> dict[str, Any]:
    """Return actor and time as arguments of the verbs."""
    return {"actor": request.user.get_username(), "now": timezone.now()}


def return_to_operation(
    request: HttpRequest,
    operation: Operation,
    part: str = "",
    pointer: str = "",
    *,
    refusal: str = "",
    fragment: str,
) -> HttpResponseRedirect:
    """Return to the operation's page; to a node on it if the action was about one."""
    query = {"method": operation.method, "path": operation.path, "refused": refusal}
    node = {"part": part, "at": pointer} if part else {}
    return return_to_page(request, "operation", operation.environment, {**query, **node}, fragment=fragment)


def refuse_override(request: HttpRequest, operation: Operation, reason: str, *, fragment: str) -> HttpResponseRedirect:
    """Return to the operation's page, which says why nothing would change.

    reason: a code of NO_CHANGE.
    """
    part, pointer = request.POST.get("part", ""), request.POST.get("pointer", "")
    return return_to_operation(request, operation, part, pointer, refusal=reason, fragment=fragment)
