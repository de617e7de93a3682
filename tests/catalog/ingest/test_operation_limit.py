"""Once the catalog has MAX_OPERATIONS, new operations are only counted, and known ones are folded (contract §4)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.utils import timezone

from catalog import operation_queries
from catalog.ingest.fold import fold_reports
from catalog.models import ExcessOperation, Operation
from catalog.rules.template_rules import add_template_rule
from tests.catalog.reports import deliver, environment_of, observation, report

pytestmark = pytest.mark.django_db
AT = 1_790_000_000


@pytest.fixture(autouse=True)
def _limit(settings: Any) -> None:
    settings.MAX_OPERATIONS = 3


def paths(created: Any) -> list[str]:
    return sorted(operation_queries.visible_operations(environment_of(created)).values_list("path", flat=True))


def excess(created: Any) -> dict[str, int]:
    rows = ExcessOperation.objects.filter(environment=environment_of(created))
    return {row.key: row.observations for row in rows}


def observations(*names: str, count: int = 1, **members: Any) -> list[dict[str, Any]]:
    return [observation(path=f"/{name}", count=count, response={"id": 1}, lastSeenAt=AT, **members) for name in names]


def show_under(created: Any, source: str, target: str) -> None:
    """Add a template rule that shows one reported template, and all operations that match `target`, as `target`."""
    environment = environment_of(created)
    add_template_rule(environment, source, target, matching=True, actor="test", now=timezone.now())


def test_operations_beyond_the_limit_are_counted_by_name(api, workspace):
    deliver(api, workspace, *observations("a", "b", "c", "d", "e", count=2))
    assert paths(workspace) == ["/a", "/b", "/c"]
    assert excess(workspace) == {"/d": 2, "/e": 2}
    deliver(api, workspace, *observations("d", count=5))
    assert excess(workspace) == {"/d": 7, "/e": 2}


def test_operations_in_the_catalog_are_still_merged(api, workspace):
    deliver(api, workspace, *observations("a", "b", "c", "d"))
    deliver(api, workspace, *observations("a", "d", count=10))
    row = Operation.objects.get(key="/a")
    assert (row.observations, paths(workspace)) == (11, ["/a", "/b", "/c"])


def test_each_environment_has_its_own_limit(api, workspace):
    deliver(api, workspace, *observations("a", "b", "c", "d"))
    deliver(api, workspace, *observations("d"), environment="staging")
    assert [row.key for row in operation_queries.visible_operations(environment_of(workspace, "staging"))] == ["/d"]


def test_operations_enter_with_their_next_report_once_there_is_room(api, workspace, settings):
    deliver(api, workspace, *observations("a", "b", "c", "d", "e"))
    settings.MAX_OPERATIONS = 4
    deliver(api, workspace, *observations("d", "e"))
    assert paths(workspace) == ["/a", "/b", "/c", "/d"]
    assert excess(workspace) == {"/e": 2}


def test_a_template_rule_makes_room(api, workspace):
    deliver(api, workspace, *observations("a/x", "a/y", "b"))
    deliver(api, workspace, *observations("c"))
    assert excess(workspace) == {"/c": 1}
    show_under(workspace, "/a/x", "/a/{name}")
    deliver(api, workspace, *observations("c"))
    assert paths(workspace) == ["/a/{name}", "/b", "/c"]
    assert excess(workspace) == {}


def test_operations_merged_by_a_rule_have_a_separate_limit(api, workspace):
    deliver(api, workspace, *observations("a/x"))
    show_under(workspace, "/a/x", "/a/{name}")
    deliver(api, workspace, *observations("a/b", "a/c", "a/d", "a/e"))
    assert paths(workspace) == ["/a/{name}"]
    assert operation_queries.visible_operations(environment_of(workspace)).get().observations == 3
    assert excess(workspace) == {"/a/d": 1, "/a/e": 1}


def test_operations_of_a_scanner_leave_room_for_others(api, workspace):
    deliver(api, workspace, *observations("s/b", "s/c", "s/d", "s/e", status=404))
    deliver(api, workspace, *observations("a", "b", "c"))
    assert paths(workspace) == ["/a", "/b", "/c"]
    assert excess(workspace) == {"/s/e": 1}
    deliver(api, workspace, *observations("s/b"))
    assert (paths(workspace), excess(workspace)) == (["/a", "/b", "/c"], {"/s/b": 1, "/s/e": 1})


def test_a_limited_number_of_excess_operations_are_counted_by_name_and_the_rest_together(api, workspace):
    deliver(api, workspace, *observations(*"abcdefgh", count=2))
    assert excess(workspace) == {"/d": 2, "/e": 2, "/f": 2, "": 4}
    deliver(api, workspace, *observations(*"defgh"))
    assert excess(workspace) == {"/d": 3, "/e": 3, "/f": 3, "": 6}


def test_the_sum_of_all_other_operations_takes_no_place_of_the_limit(api, workspace, settings):
    deliver(api, workspace, *observations(*"abcdefgh"))
    assert excess(workspace) == {"/d": 1, "/e": 1, "/f": 1, "": 2}
    settings.MAX_OPERATIONS = 4
    deliver(api, workspace, *observations("d", "g", "h"))
    assert paths(workspace) == ["/a", "/b", "/c", "/d"]
    assert excess(workspace) == {"/e": 1, "/f": 1, "/g": 1, "/h": 1, "": 2}


@pytest.mark.parametrize("seed", range(3))
def test_every_observation_is_counted_once_in_any_order_and_batching(api, workspace, monkeypatch, seed):
    chance = random.Random(seed)
    monkeypatch.setattr("catalog.ingest.report_batch.MAX_BATCH_REPORTS", chance.choice([1, 2, 50]))
    monkeypatch.setattr("catalog.ingest.merge.BATCH_OPERATIONS", chance.choice([1, 2, 50]))
    deliver(api, workspace, *observations("a", "b", "c"))
    sent = dict.fromkeys("abcdefgh", 0) | dict.fromkeys("abc", 1)
    for _ in range(12):
        name, count = chance.choice("abcdefgh"), chance.randint(1, 9)
        sent[name] += count
        assert api.post("/api/witness-reports", report(*observations(name, count=count))).status_code == 202
    fold_reports(environment_of(workspace), now=timezone.now())
    within = {row.path: row.observations for row in Operation.objects.all()}
    assert within == {f"/{name}": sent[name] for name in "abc"}
    assert sum(excess(workspace).values()) == sum(sent[name] for name in "defgh")
