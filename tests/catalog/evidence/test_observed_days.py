"""Evidence by day: the days add up to the evidence of all time, and each day has its own observations."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from catalog.evidence.observed_days import DaySpan, Gap, find_days, find_gap, load_days
from catalog.evidence.parts import build_part_shapes, list_part_nodes
from catalog.models import Operation, OperationDay
from catalog.operation_queries import prefetch_evidence
from catalog.rules.baseline_resets import reset_baseline
from catalog.rules.template_rules import add_template_rule
from tests.catalog.reports import deliver, environment_of, observation
from wire.time.period import parse_period

pytestmark = pytest.mark.django_db
DAY = 86400
FIRST = 1_790_000_000 // DAY * DAY
FIRST_DATE = datetime.fromtimestamp(FIRST, UTC).date()
PATH = "/orders/{orderId}"
ALL = DaySpan(date(2000, 1, 1), date(2100, 1, 1))
BODIES: list[Any] = [
    {"id": 1, "total": 2}, {"id": "1", "total": 2}, {"id": None}, {"lines": [{"sku": 1}, {"sku": None}]},
    {"by": {"a": {"n": 1}, "b": {"n": 2}}}, [1], {"id": 3, "note": "x"},
]  # fmt: skip


def observe_on(day: int, response: Any, **members: Any) -> dict[str, Any]:
    return observation(response=response, lastSeenAt=FIRST + day * DAY + 3600, **members)


def find_visible(environment: str = "production") -> Operation:
    rows = Operation.objects.filter(environment__name=environment, shown_under=None, begun=True)
    return prefetch_evidence(rows).earliest("pk")


def list_nodes_of(operation: Operation, span: DaySpan) -> list[Any]:
    observed = load_days(operation, span)
    parts = [observed.build_part(shape) for shape in build_part_shapes(operation)]
    return [(part.key, part.observations, list(list_part_nodes(part))) for part in parts]


def list_nodes_of_all_time(operation: Operation) -> list[Any]:
    return [(part.key, part.observations, list(list_part_nodes(part))) for part in build_part_shapes(operation)]


@pytest.mark.parametrize("seed", range(8))
def test_all_days_together_give_the_shape_of_all_time(api, workspace, seed):
    chance = random.Random(seed)
    deliver(api, workspace, observe_on(0, BODIES[0]), observe_on(0, BODIES[1], path="/orders/latest"))
    for step in range(8):
        observations = [
            observe_on(
                chance.randint(0, step + 1),
                chance.choice(BODIES),
                status=chance.choice([200, 200, 404]),
                count=1,
                path=chance.choice([PATH, "/orders/latest"]),
                request=chance.choice(BODIES[:4]),
            )
            for _ in range(chance.randint(1, 6))
        ]
        deliver(api, workspace, *observations)
        now = datetime.fromtimestamp(FIRST + (step + 1) * DAY + 7200, UTC)
        if step == 2:
            add_template_rule(environment_of(workspace), "/orders/latest", PATH, actor="ann", now=now)
        if step in (3, 5):
            part, pointer = chance.choice([("", ""), ("200", ""), ("200", "/id"), ("request", "")])
            reset_baseline(find_visible(), part=part, pointer=pointer, actor="ann", now=now)
    operation = find_visible()
    assert list_nodes_of(operation, ALL) == list_nodes_of_all_time(operation)


@pytest.mark.parametrize("seed", range(4))
def test_a_span_of_days_equals_all_evidence_of_an_environment_with_only_those_days(api, workspace, seed):
    chance = random.Random(seed)
    observations = [(chance.randint(0, 6), chance.choice(BODIES[:4])) for _ in range(30)]
    first, last = sorted(chance.sample(range(7), 2))
    for start in range(0, 30, 7):
        deliver(api, workspace, *(observe_on(day, body) for day, body in observations[start : start + 7]))
    within = [observe_on(day, body) for day, body in observations if first <= day <= last]
    deliver(api, workspace, *within, environment="staging")
    span = DaySpan(FIRST_DATE + timedelta(days=first), FIRST_DATE + timedelta(days=last))
    assert list_nodes_of(find_visible(), span) == list_nodes_of_all_time(find_visible("staging"))


def test_operations_beyond_the_limit_leave_no_days(api, workspace, settings):
    settings.MAX_OPERATIONS = 1
    deliver(api, workspace, observe_on(0, {}), observe_on(0, {}, path="/second"))
    assert OperationDay.objects.values_list("operation__key", "observations").get() == ("/orders/{}", 1)


def test_a_gap_says_from_which_day_on_there_are_counts(api, workspace):
    deliver(api, workspace, observe_on(0, {"id": 1}), observe_on(2, {"id": 1}))
    operation, third = find_visible(), FIRST_DATE + timedelta(days=2)
    assert find_gap(operation, ALL) is None
    OperationDay.objects.filter(day=FIRST_DATE).delete()
    assert find_gap(operation, ALL) == Gap(third)
    assert find_gap(operation, DaySpan(third, third + timedelta(days=1))) is None
    assert find_gap(operation, DaySpan(third + timedelta(days=1), third + timedelta(days=2))) is None
    assert find_gap(operation, None) is None
    OperationDay.objects.all().delete()
    assert find_gap(operation, ALL) == Gap(None)


def test_a_period_covers_whole_utc_days():
    now = datetime(2026, 3, 5, 14, 2, tzinfo=UTC)
    assert find_days(parse_period({"range": "24h"}, now=now)) == DaySpan(date(2026, 3, 4), date(2026, 3, 5))
    assert find_days(parse_period({"range": "7d"}, now=now)) == DaySpan(date(2026, 2, 27), date(2026, 3, 5))
    one_day = parse_period({"from": "2026-03-01", "to": "2026-03-01"}, now=now)
    assert find_days(one_day) == DaySpan(date(2026, 3, 1), date(2026, 3, 1))
    assert find_days(parse_period({"range": "all"}, now=now)) is None
