"""After undos, everything is as without the template rules, whatever was reported and done in between (contract §4)."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from catalog.downloads import documents
from catalog.drift.presence.load_no_longer_seen import load_no_longer_seen
from catalog.ingest.fold import fold_reports
from catalog.models import Drift, TemplateRule
from catalog.operation_queries import find_operation
from catalog.rules import baseline_resets
from catalog.rules.errors import RuleError
from tests.catalog.reports import deliver, environment_of, observation, report
from tests.catalog.rules.merges import AT, BLUE, RED, SHOP, list_everything, merge, read_catalog, undo
from workspaces.create import create_workspace
from workspaces.models import Environment

pytestmark = pytest.mark.django_db
TEMPLATES = ["/s/red/{id}", "/s/blue/{id}", "/s/{shop}/{item}", "/s/{shop}/items", "/t/{shop}/{item}", "/s/green/items"]
BODIES = [{"id": 1}, {"id": "x"}, {"id": None, "tags": []}, {"tags": ["a"]}, [1], {}]


class Twins:
    """Two environments with the same reports. One gets all rules, the other only the rules that are never undone."""

    def __init__(self, api: Any, created: Any, chance: random.Random) -> None:
        self.api, self.created, self.chance = api, created, chance
        self.with_all, self.with_some = environment_of(created), environment_of(created, "staging")
        self.rules_to_undo: list[TemplateRule] = []

    def report(self) -> None:
        seen = [
            observation(
                self.chance.choice(["GET", "GET", "PUT"]),
                self.chance.choice(TEMPLATES),
                self.chance.choice([200, 200, 404, 409]),
                self.chance.choice([1, 1, 5]),
                response=self.chance.choice(BODIES),
                lastSeenAt=AT + self.chance.randrange(200_000),
                parameters={},
                requestMediaType=self.chance.choice(["application/json", "text/csv"]),
                responseMediaType=self.chance.choice(["application/json", "text/html", "image/canary"]),
            )
            for _ in range(self.chance.choice([1, 3]))
        ]
        for environment in ("production", "staging"):
            deliver(self.api, self.created, *seen, environment=environment)

    def add_rule(self) -> None:
        source, target = self.chance.choice(TEMPLATES), self.chance.choice(TEMPLATES)
        options = {"method": self.chance.choice(["", "", "GET"]), "matching": self.chance.random() < 0.3}
        try:
            rule = merge(self.with_all, source, target.replace("item}", "thing}"), **options)
        except RuleError:
            return
        try:
            if self.chance.random() < 0.4:
                merge(self.with_some, source, target.replace("item}", "thing}"), **options)
                return
        except RuleError:  # the rule makes a circle here; in `with_all`, a rule to undo prevents the circle
            pass
        self.rules_to_undo.append(rule)

    def reset_baselines(self) -> None:
        now = datetime.fromtimestamp(AT + self.chance.randrange(200_000), UTC)
        for path in self.chance.sample(TEMPLATES, 2):
            rows = [find_operation(environment, "GET", path) for environment in (self.with_all, self.with_some)]
            if all(row and rows[0] and row.key == rows[0].key for row in rows):
                for row in rows:
                    baseline_resets.reset_baseline(row, actor="ann", now=now)

    def undo_one(self) -> None:
        if self.rules_to_undo:
            rule = self.chance.choice(self.rules_to_undo)
            try:
                undo(rule)
                self.rules_to_undo.remove(rule)
            except RuleError:
                return


@pytest.mark.parametrize("seed", [*range(8), 330, 332, 347, 359])
def test_after_all_undos_everything_is_byte_for_byte_as_without_the_rules(api, workspace, seed):
    chance = random.Random(seed)
    twins = Twins(api, workspace, chance)
    steps = [twins.report, twins.report, twins.add_rule, twins.add_rule, twins.undo_one, twins.reset_baselines]
    for _ in range(25):
        chance.choice(steps)()
    while twins.rules_to_undo:
        twins.undo_one()
    assert list_everything(twins.with_all) == list_everything(twins.with_some)
    assert TemplateRule.objects.filter(environment=twins.with_all, undone_at=None).count() == (
        TemplateRule.objects.filter(environment=twins.with_some).count()
    )
    twins.report()
    assert list_everything(twins.with_all) == list_everything(twins.with_some)


@pytest.mark.django_db(transaction=True)
def test_rules_added_and_undone_during_concurrent_folds_and_redeliveries_lose_nothing():
    created = create_workspace("Busy", ["staging"], actor="test", now=timezone.now(), with_full_key=True)
    environment, client = environment_of(created), Client()
    failures: list[BaseException] = []

    def repeat(act: Callable[[], object]) -> None:
        try:
            for _ in range(12):
                act()
        except BaseException as error:  # checked below: a failure in a thread must fail the test
            failures.append(error)
        finally:
            connection.close()

    def decide() -> None:
        undo(merge(environment, RED, BLUE))
        undo(merge(environment, RED, SHOP, matching=True))

    work = [lambda: fold_reports(environment, now=timezone.now())] * 2 + [decide]
    threads = [threading.Thread(target=repeat, args=(act,)) for act in work]
    for thread in threads:
        thread.start()
    for number in range(30):
        sent = report(observation(path=RED if number % 3 else BLUE, response={"n": number % 2 or "x"}, lastSeenAt=AT))
        for _ in range(2):
            answer = client.post(
                "/api/witness-reports", sent, content_type="application/json",
                headers={"x-service-api-key": created.full_key},
            )  # fmt: skip
            assert answer.status_code == 202
    for thread in threads:
        thread.join()
    fold_reports(environment, now=timezone.now())
    assert failures == []
    assert [(operation["path"], operation["observations"]) for operation in read_catalog(environment)] == [
        (BLUE, 10),
        (RED, 20),
    ]
    merge(environment, RED, BLUE)
    assert read_catalog(environment)[0]["responses"]["200"]["seen"] == 30


def read_formats(environment: Environment) -> list[bytes]:
    return [documents.render_format(environment, name).body for name in ("tools", "openapi")]


def test_an_undone_merge_leaves_no_property_behind_that_only_the_other_operation_lacked(api, workspace):
    """The merged operation counts absences at BLUE. BLUE itself never lacked `blue` and never had `red`."""
    environment = environment_of(workspace)
    blue, red = (observation(path=path, response={"id": 1, name: 1}) for path, name in ((BLUE, "blue"), (RED, "red")))
    deliver(api, workspace, *[blue, red] * 50)
    before = read_formats(environment)
    rule = merge(environment, RED, BLUE)
    deliver(api, workspace, *[red] * 300)
    deliver(api, workspace, *[observation(path=RED, response={"id": 1})] * 400)
    quiet = Drift.objects.values_list("operation__key", "pointer", "kind").order_by("pointer")
    assert list(quiet) == [("/shops/blue/{}", name, "quiet") for name in ("/blue", "/red")]
    undo(rule)
    assert read_formats(environment) == before
    assert load_no_longer_seen(environment) == {}
    deliver(api, workspace, blue)
    assert Drift.objects.count() == 2
