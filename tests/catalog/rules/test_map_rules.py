"""Maps by similar values or manual override: shown everywhere, names kept, and an undo restores everything exactly."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone
from django.utils.http import urlencode
from support.map_values import PRICE, bodies

from catalog import operation_queries
from catalog.models import Drift, MapRule, Operation, OperationPart, OperationVersion
from catalog.rules import template_rules
from catalog.rules.errors import NO_CHANGE
from catalog.rules.map_rules import add_map_rule, undo_map_rule
from catalog.rules.template_rules import add_template_rule
from tests.at_once import run_twice_at_once
from tests.catalog.reports import deliver, environment_of, observation, undo_override
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db
PATH = "/prices"
AT = 1_790_000_000
BOX = {"width": 1, "height": 2, "depth": 3}


def build_prices(*values: Any) -> list[dict[str, Any]]:
    return [observation(path=PATH, response={"by": value}, lastSeenAt=AT) for value in values]


def read_document(environment: str = "production") -> Any:
    """Return the catalog's descriptor of the responses with status 200."""
    return json.loads(Operation.objects.get(environment__name=environment).document)["responses"]["200"]


def read_shape(environment: str = "production") -> Any:
    return read_document(environment)["properties"]["by"]


def add_rule(pointer: str = "/by", *, as_map: bool, part: str = "200") -> MapRule:
    operation = Operation.objects.order_by("environment_id").first()
    return add_map_rule(operation, part, pointer, as_map=as_map, actor="ann", now=timezone.now())


@pytest.fixture
def alike(api: Any, workspace: Any) -> Any:
    deliver(api, workspace, *build_prices(*bodies(PRICE)))
    return workspace


@pytest.fixture
def boxes(api: Any, workspace: Any) -> Any:
    deliver(api, workspace, *build_prices(BOX, BOX))
    return workspace


@pytest.mark.django_db(transaction=True)
def test_a_map_rule_added_twice_at_once_is_one_rule(boxes):
    run_twice_at_once(lambda: add_rule(as_map=True))
    assert MapRule.objects.count() == 1
    assert AuditEntry.objects.filter(action="shown as a map").count() == 1
    assert add_rule(as_map=False) != add_rule(as_map=True)
    assert MapRule.objects.count() == 3


def test_a_map_by_similar_values_is_a_map_in_the_catalog_and_every_download(api, alike):
    assert "properties" not in read_shape()
    assert (read_shape()["values"]["seen"], read_shape()["values"]["properties"]["amount"]["seen"]) == (40, 40)
    (schema,) = api.get("/api/catalog/schemas.json").json()["$defs"].values()
    assert schema["properties"]["by"]["additionalProperties"]["properties"]["amount"] == {"type": "integer"}
    assert "properties" not in schema["properties"]["by"]
    assert Operation.objects.get().properties == 3


def test_the_names_of_a_map_are_kept_and_shown_again_if_later_values_differ(api, alike):
    stored_evidence = OperationPart.objects.get(part="response").evidence
    assert len(stored_evidence["properties"]["by"]["properties"]) == 40
    deliver(api, alike, *build_prices({"bal": "closed"}))
    assert len(read_shape()["properties"]) == 40
    assert [(drift.pointer, drift.kind, drift.breaks) for drift in Drift.objects.all()] == [("/by", "no-map", "")]


def test_keys_of_a_map_are_never_reported_as_absent_but_properties_of_its_values_are(api, alike):
    deliver(api, alike, *build_prices(*[{"new": PRICE}] * 3))
    assert not Drift.objects.exists()
    deliver(api, alike, *build_prices(*bodies({"amount": 1, "until": "x"}, names=60)))
    kinds = {(drift.pointer, drift.kind) for drift in Drift.objects.all()}
    assert kinds == {("/by/{}/until", "new"), ("/by/{}/currency", "quiet")}


def test_a_query_is_never_recognised_as_a_map(api, workspace):
    deliver(api, workspace, *[observation(path=PATH, query=body) for body in bodies(PRICE)])
    assert len(json.loads(Operation.objects.get().document)["query"]["properties"]) == 40


def test_a_record_overridden_as_a_map_stays_a_map_for_later_keys(api, boxes):
    add_rule(as_map=True)
    assert read_shape()["values"] == {"type": "integer", "seen": 6}
    deliver(api, boxes, *build_prices({**BOX, "colour": 4}))
    assert (read_shape()["values"]["seen"], "properties" in read_shape()) == (10, False)
    assert not Drift.objects.exists()


def test_a_map_by_similar_values_can_be_overridden_as_properties(alike):
    add_rule(as_map=False)
    assert len(read_shape()["properties"]) == 40
    add_rule(as_map=True)
    assert "properties" not in read_shape()


def test_the_latest_rule_of_a_node_applies_and_its_undo_restores_the_one_before(alike):
    first, second = add_rule(as_map=False), add_rule(as_map=True)
    assert "values" in read_shape()
    undo_map_rule(second, actor="ann", now=timezone.now())
    assert "properties" in read_shape()
    undo_map_rule(first, actor="ann", now=timezone.now())
    assert "values" in read_shape()
    version = Operation.objects.get().version
    undo_map_rule(first, actor="ann", now=timezone.now())
    assert Operation.objects.get().version == version


def test_the_keys_of_merged_operations_together_decide_whether_an_object_is_a_map(api, workspace):
    some, others = bodies(PRICE)[:8], bodies(PRICE)[8:]
    deliver(api, workspace, *build_prices(*some))
    deliver(api, workspace, *[{**sent, "path": "/other"} for sent in build_prices(*others)])
    environment = environment_of(workspace)
    merged = add_template_rule(environment, "/other", PATH, actor="ann", now=timezone.now())
    (operation,) = operation_queries.visible_operations(environment)
    assert "values" in json.loads(operation.document)["responses"]["200"]["properties"]["by"]
    deliver(api, workspace, *build_prices({"new": PRICE}))
    assert not Drift.objects.exists()
    template_rules.undo_template_rule(merged, actor="ann", now=timezone.now())
    documents = [
        json.loads(operation.document)["responses"]["200"]
        for operation in operation_queries.visible_operations(environment).order_by("path")
    ]
    assert [len(document["properties"]["by"].get("properties", {})) for document in documents] == [0, 17]


@pytest.mark.parametrize("seed", range(5))
def test_after_an_undo_all_bytes_are_as_without_the_rule(api, workspace, seed):
    chance = random.Random(seed)
    rules: list[MapRule] = []
    observations: list[dict[str, Any]] = []
    for _ in range(12):
        body = chance.choice([BOX, {"a": {"x": 1}}, {"a": {"y": None}, "b": {"x": "s"}}, {"a": []}, *bodies(PRICE)[:3]])
        observations += build_prices(body)
        deliver(api, workspace, *build_prices(body))
        if chance.random() < 0.4:
            rules.append(add_rule(chance.choice(["", "/by", "/by/a", "/{}", "/by/{}"]), as_map=chance.random() < 0.7))
        if rules and chance.random() < 0.3:
            undo_map_rule(chance.choice(rules), actor="ann", now=timezone.now())
    deliver(api, workspace, *observations, environment="staging")
    for rule in chance.sample(rules, len(rules)):
        undo_map_rule(rule, actor="ann", now=timezone.now())
    ruled, never = Operation.objects.order_by("environment_id")
    assert (ruled.document, ruled.outline) == (never.document, never.outline)
    states = [sorted((row.part, str(row.evidence)) for row in operation.parts.all()) for operation in (ruled, never)]
    assert states[0] == states[1]


def test_each_map_rule_makes_a_version_until_it_is_undone_and_is_in_the_audit_log(boxes):
    rule = add_rule(as_map=True)
    assert list(OperationVersion.objects.values_list("number", "by_hand")) == [(2, True), (1, False)]
    undo_map_rule(rule, actor="bob", now=timezone.now())
    assert list(OperationVersion.objects.values_list("number", "by_hand")) == [(1, False)]
    assert Operation.objects.get().version == 1
    entries = AuditEntry.objects.filter(workspace_id=boxes.workspace.pk).exclude(action="workspace created")
    assert {(entry.actor, entry.action, entry.facts["place"]) for entry in entries} == {
        ("ann", "shown as a map", "200 /by"),
        ("bob", "map rule undone", "200 /by"),
    }


def post_map_rule(client: Client, created: Any, **members: str) -> Any:
    address = f"/w/{created.workspace.slug}/production/operation/maps"
    form = {"method": "GET", "path": PATH, "part": "200", "pointer": "/by"}
    return client.post(address, {**form, **members})


def read_page(client: Client, created: Any, **query: str) -> str:
    address = f"/w/{created.workspace.slug}/production/operation"
    return client.get(address, {"method": "GET", "path": PATH, **query}).content.decode()


def test_a_member_overrides_a_map_and_undoes_it_on_the_page(browser_client, alike):
    shown = read_page(browser_client, alike, at="/by")
    assert ">40 names<" in shown
    assert "their values are alike" in shown
    answer = post_map_rule(browser_client, alike, **{"as": "properties"})
    assert (answer.status_code, MapRule.objects.get().actor) == (303, "test-operator")
    assert "Show as a map" in browser_client.get(answer["Location"]).content.decode()
    assert "properties" in read_shape()
    rule, location = MapRule.objects.get(), {"method": "GET", "path": PATH}
    assert undo_override(browser_client, alike, "map-rules", rule.pk, **location).status_code == 303
    assert "values" in read_shape()
    assert undo_override(browser_client, alike, "map-rules", rule.pk + 1, **location).status_code == 404


def test_undo_leads_back_to_the_same_page(browser_client, alike):
    address = f"/w/{alike.workspace.slug}/production/operation"
    filters = {"method": "GET", "path": PATH, "part": "200", "at": "/by", "range": "7d", "open": ["curl", "/by"]}
    shown = f"http://testserver{address}?{urlencode(filters, doseq=True)}"
    post_map_rule(browser_client, alike, **{"as": "properties"})
    undo = f"/w/{alike.workspace.slug}/production/rules/map-rules/{MapRule.objects.get().pk}/undo"
    form = {"method": "GET", "path": PATH}
    answer = browser_client.post(undo, form, headers={"Referer": f"{shown}&refused=map"})
    location = urlsplit(answer["Location"])
    assert (location.path, parse_qs(location.query), location.fragment) == (
        address,
        parse_qs(urlsplit(shown).query),
        "map-rules",
    )
    rules_page = f"/w/{alike.workspace.slug}/production/rules"
    answer = browser_client.post(undo, headers={"Referer": f"https://elsewhere.example{rules_page}?range=7d"})
    assert answer["Location"] == f"{rules_page}?range=7d#map-rules"


@pytest.mark.parametrize("way", ["map", "properties"])
def test_an_override_that_changes_nothing_is_refused_on_the_page(browser_client, alike, way):
    if way == "properties":
        post_map_rule(browser_client, alike, **{"as": "properties"})
    before = MapRule.objects.count()
    answer = post_map_rule(browser_client, alike, **{"as": way})
    assert MapRule.objects.count() == before
    page = browser_client.get(answer["Location"]).content.decode()
    assert f'<p class="notice" role="status">{NO_CHANGE[way]}</p>' in page


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({"as": "properties", "pointer": "/nowhere"}, 404),
        ({"as": "properties", "part": "500"}, 404),
        ({"as": "properties", "part": ""}, 404),
        ({"as": "list"}, 400),
        ({}, 400),
        ({"as": "map", "path": "/nowhere"}, 404),
        ({"as": "map", "pointer": "/by/width"}, 400),
        ({"as": "properties", "pointer": "/by/width"}, 400),
    ],
)
def test_an_unknown_node_or_choice_is_refused(browser_client, boxes, members, status):
    assert post_map_rule(browser_client, boxes, **members).status_code == status
    assert not MapRule.objects.exists()


def test_the_page_says_that_erased_names_do_not_come_back(api, browser_client, boxes):
    many = {f"name{a}{b}": 1 for a in "abcdefghijklmnop" for b in "abcdefghijklmnop"}
    deliver(api, boxes, *build_prices(many))
    shown = read_page(browser_client, boxes, at="/by")
    assert "they cannot be shown as properties" in shown
    assert 'value="properties"' not in shown
    deliver(api, boxes, observation(path="/by-id", response={"4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": 1, "all": 2}))
    address = f"/w/{boxes.workspace.slug}/production/operation?method=GET&path=/by-id"
    assert "They were never kept" in browser_client.get(address).content.decode()


def test_strangers_keys_and_outsiders_add_no_map_rule(client, boxes, other_workspace):
    assert post_map_rule(client, boxes, **{"as": "map"}).status_code == 302
    key = {"x-service-api-key": boxes.full_key}
    by_key = client.post(f"/w/{boxes.workspace.slug}/production/operation/maps", headers=key)
    assert by_key.status_code == 302
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert post_map_rule(client, boxes, **{"as": "map"}).status_code == 404
    assert not MapRule.objects.exists()


def test_a_get_request_changes_nothing(browser_client, boxes):
    assert browser_client.get(f"/w/{boxes.workspace.slug}/production/operation/maps").status_code == 405
