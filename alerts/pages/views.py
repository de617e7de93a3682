"""Show the alerts and the targets. An alert has a preview before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone

from alerts.models import Alert
from alerts.pages.exports import list_alert_tables
from alerts.pages.forms import KINDS, AlertForm, TargetForm, default_values, stored_values
from alerts.pages.preview_section import build_preview_section
from alerts.pages.queries import list_alert_rows, list_target_rows
from alerts.setup import targets
from wire.address_members import read_number, read_text
from wire.time.period import Period
from workspaces.forms.late_forms import fingerprint
from workspaces.models import Environment
from workspaces.pages.page import Page
from workspaces.pages.shown_once import take_once

NAME, LOG = "alerts", "deliveries"
ALERT_MEMBERS = (*AlertForm.base_fields, "edit", "new")  # query parameters of an address with an open alert form
NEW_SECRET = "new webhook secret"


def show_alerts(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the alerts of the workspace, its targets, and the form of an alert with its preview."""
    return build_alerts_page(request, environment)


def build_alerts_page(
    request: HttpRequest,
    environment: Environment,
    form: AlertForm | None = None,
    target_form: TargetForm | None = None,
    fault: str = "",
) -> Page:
    """Return the page of alerts.

    form, target_form: sent forms that were refused.
    fault: why an action was refused, in words.
    """
    workspace = environment.workspace

    def build_context() -> Mapping[str, Any]:
        now = timezone.now()
        rows, target_rows = list_alert_rows(workspace, now=now), list_target_rows(workspace)
        row_to_edit = _find(rows, "alert", request, "edit")
        target_to_edit = _find(target_rows, "target", request, "target")
        alert_form = form or _read_form(request, environment, row_to_edit.alert if row_to_edit else None)
        return {
            "fault": fault,
            "rows": rows,
            "target_rows": target_rows,
            "to_edit": row_to_edit,
            **_find_save_address(environment, row_to_edit.alert if row_to_edit else None),
            "to_delete": _find(rows, "alert", request, "delete"),
            "target_to_edit": target_to_edit,
            "opened_target": fingerprint(targets.list_form_values(target_to_edit.target)) if target_to_edit else "",
            "sent_target": {name: read_text(request.POST, name) for name in ("name", "address")} if fault else None,
            "target_to_delete": _find(target_rows, "target", request, "delete_target"),
            "target_to_rotate": _find(target_rows, "target", request, "rotate"),
            "new_secrets": take_once(request, NEW_SECRET, workspace=workspace.pk),
            "form": alert_form,
            "was_sent": form is not None,
            "is_form_open": not rows or form is not None or any(name in request.GET for name in ALERT_MEMBERS),
            "alert_query": _write_alert_query(request),
            "chosen_targets": alert_form["targets"].value() or [],
            "kinds": [(kind, *words, kind == alert_form["kind"].value()) for kind, words in KINDS.items()],
            "target_form": target_form or TargetForm(),
            "has_mail_server": bool(settings.EMAIL_URL),
            "form_kind": (target_form["kind"].value() if target_form else "") or "slack",
            **build_preview_section(alert_form),
        }

    return Page("alerts/alerts.html", build_context, list_alert_tables(workspace), has_period=False, holds_secrets=True)


def _find(rows: Any, attribute: str, request: HttpRequest, member: str) -> Any:
    """Return the row whose id is in this query parameter (`member`); None if there is no such row."""
    number = read_number(request.GET, member)
    return next((row for row in rows if getattr(row, attribute).pk == number), None)


def _find_save_address(environment: Environment, alert: Alert | None) -> Mapping[str, str]:
    """Return the address that the form posts to. It names the alert, so that a refused form can be shown again."""
    names = [environment.workspace.slug, environment.name]
    if alert is None:
        return {"save_address": reverse("create-alert", args=names), "save_query": "#alert"}
    address = reverse("change-alert", args=[*names, alert.pk])
    return {"save_address": address, "save_query": f"?edit={alert.pk}#alert"}


def _write_alert_query(request: HttpRequest) -> str:
    """Return the query parameters of the alert form in the address, with their question mark; "" without any."""
    members = [(name, value) for name in ALERT_MEMBERS for value in request.GET.getlist(name)]
    return f"?{urlencode(members)}" if members else ""


def _read_form(request: HttpRequest, environment: Environment, alert: Alert | None) -> AlertForm:
    """Return the form with the values of the address; missing ones come from the stored alert, or are the defaults."""
    workspace = environment.workspace
    targets = list(workspace.alert_targets.order_by("name", "id"))
    values = stored_values(alert, targets) if alert else default_values(environment, targets)
    members = QueryDict(mutable=True)
    is_sent = "kind" in request.GET  # then an address without targets means no targets, not the stored ones
    for name, value in values.items():
        sent_values = request.GET.getlist(name)
        default = value if isinstance(value, list) else [str(value)]
        members.setlist(name, sent_values or ([] if is_sent and name == "targets" else default))
    return AlertForm(members, workspace, alert)
