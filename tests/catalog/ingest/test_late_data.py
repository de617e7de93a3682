"""Traffic from before a baseline reset counts before it, however late its report comes (contract §4)."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from catalog.evidence.parts import build_part_shapes, list_part_nodes
from catalog.models import BaselineReset, Drift, Operation, OperationPart
from catalog.rules.baseline_resets import reset_baseline, undo_baseline_reset
from catalog.rules.template_rules import add_template_rule
from tests.catalog.reports import deliver, environment_of, observation

pytestmark = pytest.mark.django_db
DAY = 86400
FIRST = 1_790_000_000 // DAY * DAY
PATH = "/orders/{orderId}"
OLD, NEW = {"id": 1, "total": 2}, {"id": "1", "total": 2}


def observe_on(day: int, response: Any, **members: Any) -> dict[str, Any]:
    """Return an observation at some time of one day."""
    return observation(response=response, lastSeenAt=FIRST + day * DAY + 3600, **members)


def find_operation(environment: str = "production") -> Operation:
    return Operation.objects.filter(environment__name=environment, shown_under=None, begun=True).earliest("pk")


def reset_on(day: int, pointer: str = "", part: str = "", environment: str = "production") -> BaselineReset:
    now = datetime.fromtimestamp(FIRST + day * DAY + 7200, UTC)
    return reset_baseline(find_operation(environment), part=part, pointer=pointer, actor="ann", now=now)


def type_of_id() -> tuple[str, int]:
    node = json.loads(find_operation().document)["responses"]["200"]["properties"]["id"]
    return node["type"], node["seen"]


@pytest.mark.parametrize(("part", "pointer"), [("", ""), ("200", ""), ("200", "/id")])
def test_a_late_report_from_before_the_reset_does_not_bring_the_old_type_back(api, workspace, part, pointer):
    deliver(api, workspace, *[observe_on(0, OLD)] * 5)
    start = reset_on(2, pointer, part)
    deliver(api, workspace, *[observe_on(2, NEW)] * 3)
    deliver(api, workspace, *[observe_on(1, OLD)] * 4)
    assert type_of_id() == ("string", 3)
    assert json.loads(find_operation().document)["observations"] == 12
    assert not Drift.objects.exists()
    undo_baseline_reset(start, actor="ann", now=start.at)
    assert type_of_id() == ("unknown", 12)


def test_one_report_may_hold_late_and_other_observations(api, workspace):
    deliver(api, workspace, *[observe_on(0, OLD)] * 5)
    reset_on(2)
    deliver(api, workspace, observe_on(1, OLD), observe_on(2, NEW), observe_on(3, NEW))
    assert type_of_id() == ("string", 2)
    assert [shape.observations for shape in build_part_shapes(find_operation())] == [2]


def test_on_the_day_of_the_reset_the_time_of_arrival_decides(api, workspace):
    deliver(api, workspace, *[observe_on(2, OLD)] * 5)
    reset_on(2)
    deliver(api, workspace, observe_on(2, NEW))
    assert type_of_id() == ("string", 1)


def test_an_observation_that_extends_into_the_day_of_the_reset_counts_after_it(api, workspace):
    deliver(api, workspace, observe_on(0, OLD))
    reset_on(2)
    deliver(api, workspace, observe_on(2, NEW, firstSeenAt=FIRST + DAY))
    assert type_of_id() == ("string", 1)


def test_changes_of_other_nodes_in_a_late_report_are_drift_with_their_counts(api, workspace):
    deliver(api, workspace, *[observe_on(0, OLD)] * 5)
    reset_on(2, "/id", "200")
    deliver(api, workspace, *[observe_on(1, {**OLD, "note": "x"})] * 2)
    (drift,) = Drift.objects.all()
    assert (drift.pointer, drift.kind, drift.seen, drift.of) == ("/note", "new", 2, 2)


def test_late_reports_of_merged_operations_count_before_the_reset_too(api, workspace):
    other = {"path": "/orders/latest"}
    deliver(api, workspace, *[observe_on(0, OLD)] * 3, observe_on(0, OLD, **other))
    now = datetime.fromtimestamp(FIRST + DAY, UTC)
    add_template_rule(environment_of(workspace), "/orders/latest", PATH, actor="ann", now=now)
    start = reset_on(2, "/id", "200")
    deliver(api, workspace, observe_on(2, NEW), observe_on(1, OLD, **other), observe_on(3, NEW, **other))
    assert type_of_id() == ("string", 2)
    undo_baseline_reset(start, actor="ann", now=now)
    assert type_of_id() == ("unknown", 7)


def test_late_data_do_not_repeat_an_absence_event(api, workspace):
    deliver(api, workspace, *[observe_on(0, OLD)] * 30)
    deliver(api, workspace, *[observe_on(1, {"id": 1})] * 30)
    reset_on(2, "/id", "200")
    reset_on(4, "/id", "200")
    deliver(api, workspace, *[observe_on(3, {"id": 1})] * 30)
    deliver(api, workspace, *[observe_on(4, {"id": 1})] * 100)
    assert [drift.pointer for drift in Drift.objects.filter(kind="quiet")] == ["/total"]


STARTS = [(2, "", ""), (4, "/id", "200"), (6, "", "200"), (8, "/lines/[]", "200")]
BODIES = [OLD, NEW, {"id": None}, {"lines": [{"sku": 1}]}, {"lines": [{"sku": "x"}]}, [1]]


def list_visible(environment: str) -> Any:
    """Return all that is stored and shown of the operation in one environment, except its drift."""
    row = find_operation(environment)
    parts = OperationPart.objects.filter(operation=row).order_by("part", "status", "epoch")
    evidence = [(part.part, part.status, part.epoch, part.evidence) for part in parts if part.evidence]
    starts = row.baseline_resets.order_by("epoch").values_list("epoch", "statuses")
    rows = [(shape.key, shape.observations, list(list_part_nodes(shape))) for shape in build_part_shapes(row)]
    return row.document, row.outline, evidence, list(starts), rows


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_reports_does_not_change_what_is_stored_and_shown(api, workspace, seed):
    """Production gets the reports of each day on that day; staging gets some of them much later, in any order."""
    chance = random.Random(seed)
    waiting: list[dict[str, Any]] = []
    starts = []
    for day in range(10):
        for start in (start for start in STARTS if start[0] == day):
            starts += [reset_on(*start), reset_on(*start, environment="staging")]
        if not starts or starts[-1].at.timestamp() // DAY != FIRST // DAY + day:
            today = [observe_on(day, chance.choice(BODIES), status=chance.choice([200, 200, 409])) for _ in range(2)]
            deliver(api, workspace, *today)
            waiting += today
        chance.shuffle(waiting)
        cut = chance.randint(1, len(waiting)) if waiting else 0
        now, waiting = waiting[:cut], waiting[cut:]
        deliver(api, workspace, *now, environment="staging")
    deliver(api, workspace, *waiting, environment="staging")
    assert list_visible("staging") == list_visible("production")
    for start in chance.sample(starts, len(starts)):
        undo_baseline_reset(start, actor="ann", now=start.at)
    assert list_visible("staging") == list_visible("production")
