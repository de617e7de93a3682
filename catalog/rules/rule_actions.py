"""What members do on the page of rules, and on an operation's page with its template: by session, never by a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from catalog.rules import baseline
from catalog.rules import maps as map_rules
from catalog.rules import redaction as redaction_rules
from catalog.rules import templates as template_rules
from catalog.rules.actions import back_to, operation_of_member
from catalog.rules.errors import RuleError
from catalog.rules.views import KINDS
from workspaces.access import require_member_environment
from workspaces.models import Environment
from workspaces.page import redirect_to_page

TAKE_BACK: Mapping[str, Callable[..., None]] = {
    "template-rules": template_rules.revert_template_rule,
    "fresh-starts": baseline.revert_baseline_reset,
    "map-rules": map_rules.revert_map_rule,
    "redaction-rules": redaction_rules.revert_redaction_rule,
}


@require_POST
@login_required
def show_under(request: HttpRequest, slug: str, environment: str) -> HttpResponseRedirect:
    """Show the template `path` under the template `target`, and lead there; or back, with what is wrong with it."""
    found = operation_of_member(request, slug, environment)
    sent = request.POST
    method = found.method if sent.get("only") else ""
    path, target = sent.get("path", "").replace("\0", ""), sent.get("target", "").strip()
    try:
        template_rules.add_template_rule(
            found.environment, path, target, method=method, matching=bool(sent.get("matching")), **by(request)
        )
    except RuleError as fault:
        members = {"fault": fault.code, "only": sent.get("only"), "matching": sent.get("matching")}
        repeated = "" if fault.code == "raw" else target  # an address is logged, and may hold no value
        return to_page(
            "operation", found.environment, "template", method=found.method, path=path, target=repeated, **members
        )
    return to_page("operation", found.environment, "template", method=found.method, path=target)


@require_POST
@login_required
def add_redaction(request: HttpRequest, slug: str, environment: str) -> HttpResponseRedirect:
    """Redact the property `name` as `kind` says, in this environment or `everywhere`; then back to the page."""
    found = require_member_environment(request, slug, environment)
    sent = {name: request.POST.get(name, "") for name in ("kind", "name", "everywhere")}
    try:
        redaction_rules.add_redaction_rule(
            found, sent["kind"], sent["name"], everywhere=bool(sent["everywhere"]), **by(request)
        )
    except RuleError as fault:
        if fault.code == "value":  # an address is logged, and may hold none
            sent["name"] = ""
        return to_page("rules", found, "redaction-rules", fault=fault.code, **sent)
    return to_page("rules", found, "redaction-rules")


@require_POST
@login_required
def take_back(request: HttpRequest, slug: str, environment: str, kind: str, pk: int) -> HttpResponseRedirect:
    """Take one decision of a kind back, from the page of rules or from that of the operation `method` `path`.

    One that was taken back already stays so.
    """
    found = require_member_environment(request, slug, environment)
    operation = operation_of_member(request, slug, environment) if request.POST.get("path") else None
    decided = next((one for one in KINDS if one.name == kind), None)
    if decided is None:
        raise Http404
    rule = get_object_or_404(decided.rows(found), pk=pk)
    try:
        TAKE_BACK[kind](rule, **by(request))
    except RuleError as fault:
        return to_page("rules", found, kind, fault=fault.code)
    return back_to(operation) if operation else to_page("rules", found, kind)


def by(request: HttpRequest) -> dict[str, Any]:
    return {"actor": request.user.get_username(), "now": timezone.now()}


def to_page(page: str, environment: Environment, place: str, **members: str | None) -> HttpResponseRedirect:
    return redirect_to_page(page, environment, members, fragment=place)
