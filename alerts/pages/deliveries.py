"""The log of deliveries: what was sent to the targets, with its filters and the results of the page's actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from alerts.models import Delivery
from alerts.pages.exports import list_delivery_tables
from alerts.pages.queries import list_deliveries
from wire.address_members import read_number
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

DONE = {
    "test": "A test is on its way.",
    "again": "Queued again, behind the deliveries that wait for its target.",
}
STATES = {Delivery.WAITING: "waiting", Delivery.DELIVERED: "delivered", Delivery.DEAD: "dead letter"}
ROWS_PER_PAGE = 50


def show_deliveries(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the deliveries of the workspace, the latest first."""
    workspace = environment.workspace
    state = request.GET.get("state", "")
    state = state if state in STATES else ""
    target = read_number(request.GET, "target")
    deliveries = list_deliveries(workspace, state=state, target=target)

    def build_context() -> Mapping[str, Any]:
        names = dict(workspace.alert_targets.order_by("name", "id").values_list("pk", "name"))
        if target is not None and target not in names:
            names[target] = "a deleted target"
        return {
            "done": DONE.get(request.GET.get("done", ""), ""),
            "deliveries": Paginator(deliveries, ROWS_PER_PAGE).get_page(request.GET.get("page")),
            "states": [(name, words, name == state) for name, words in STATES.items()],
            "targets": [(pk, name, pk == target) for pk, name in names.items()],
            "is_filtered": bool(state or target),
        }

    tables = list_delivery_tables(deliveries)
    takes = {"state": STATES.__contains__, "target": lambda _: target is not None}
    return Page("alerts/deliveries.html", build_context, tables, takes=takes, has_period=False)
