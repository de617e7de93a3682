"""A live witness applies the rules of a real hub, and all its reports are in the hub's catalog (contract §4)."""

from __future__ import annotations

import io
import json
from typing import Any

import flask
import pytest
from django.utils import timezone
from support.witness_hub import Hub, close_witnesses, make_witness

from affidavit.contrib.wsgi import WitnessMiddleware
from bench._support.exported_schemas import resolve_references
from catalog.ingest.fold import fold_reports
from catalog.rules import redaction_rules
from tests.catalog.reports import environment_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _close_all_witnesses():
    yield
    close_witnesses()


def shop(witness: Any) -> Any:
    app = flask.Flask(__name__)

    @app.get("/orders/<int:order_id>")
    def show(order_id: int) -> Any:
        return {"id": order_id, "userHomeEmail": "canary@example.com", "shoeSize": 42, "total": 9.5}

    @app.post("/orders")
    def order() -> Any:
        return flask.request.get_json(), 201

    app.wsgi_app = WitnessMiddleware(app.wsgi_app, witness)
    return app.test_client()


def test_answers_of_an_app_are_in_the_catalog_under_the_rules_of_the_hub(api, workspace):
    environment = environment_of(workspace)
    now = timezone.now()
    redaction_rules.add_redaction_rule(environment, "sensitive", "shoe*", actor="anna", now=now)
    redaction_rules.add_redaction_rule(environment, "drop", "user*Email", everywhere=True, actor="anna", now=now)
    hub = Hub(*api.get("/api/witness-rules?environment=production").json()["rules"])
    client = shop(witness := make_witness(hub, environment="production"))
    for number in range(300):
        client.get(f"/orders/{number}?full=1", buffered=True)
        if number % 30 == 0:
            witness.flush()
    client.post("/orders", json={"books": [1, None]}, buffered=True)
    assert witness.flush()
    for body in hub.bodies:
        assert api.post("/api/witness-reports", json.loads(body)).status_code == 202
    fold_reports(environment, now=timezone.now())
    catalog = json.loads(b"".join(api.get("/api/catalog")))
    order_post, order_get = catalog["operations"]
    assert (order_post["path"], order_post["observations"]) == ("/orders", 1)
    assert (order_get["path"], order_get["observations"]) == ("/orders/{order_id}", 300)
    shape = order_get["responses"]["200"]
    assert {name: "redacted" in descriptor for name, descriptor in shape["properties"].items()} == {
        "id": False, "shoeSize": True, "total": False,
    }  # fmt: skip
    assert 0 < shape["seen"] <= 300
    assert {descriptor["seen"] for descriptor in shape["properties"].values()} == {shape["seen"]}
    assert witness.stats.delivered == 301


def test_forms_files_csv_and_repeated_names_are_in_every_document(api, workspace):
    app = flask.Flask(__name__)

    @app.post("/uploads/<shelf>")
    def upload(shelf: str) -> Any:
        return {"size": len(flask.request.files["file"].read())}

    @app.get("/orders.csv")
    def export() -> Any:
        return flask.Response("canary;1\n", mimetype="text/csv")

    hub = Hub()
    app.wsgi_app = WitnessMiddleware(app.wsgi_app, witness := make_witness(hub))
    client = app.test_client()
    for number in range(2):
        form = {"file": (io.BytesIO(b"canary" * 100_000), "canary.pdf"), "note": "canary"}
        assert client.post(f"/uploads/{number}", data=form, buffered=True).status_code == 200
    for query in ("tag=canary", "tag=canary&tag=b"):
        client.get(f"/orders.csv?{query}", buffered=True)
    assert witness.flush()
    for body in hub.bodies:
        assert b"canary" not in body
        assert api.post("/api/witness-reports", json.loads(body)).status_code == 202
    fold_reports(environment_of(workspace), now=timezone.now())
    described = api.get("/api/catalog/openapi.json").json()
    paths = resolve_references(described["paths"], described["components"]["schemas"])
    export_operation, upload_operation = paths["/orders.csv"]["get"], paths["/uploads/{shelf}"]["post"]
    string = {"type": "string"}
    assert export_operation["parameters"] == [
        {"name": "tag", "in": "query", "schema": {"anyOf": [string, {"type": "array", "items": string}]}},
    ]  # fmt: skip
    assert export_operation["responses"]["200"]["content"] == {"text/csv": {"schema": string}}
    assert upload_operation["parameters"][0]["schema"] == {"type": "integer"}
    assert upload_operation["requestBody"]["content"] == {
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"file": {**string, "format": "binary"}, "note": string}}
        }
    }
    descriptions = [tool["description"] for tool in api.get("/api/catalog/tools.json").json()["tools"]]
    assert descriptions == [
        "GET /orders.csv. Answers 200 with text/csv.",
        "POST /uploads/{shelf}. Takes multipart/form-data. Answers 200 with an object (size).",
    ]
