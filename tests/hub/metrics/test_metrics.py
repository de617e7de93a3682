"""GET /metrics: what it shows and to whom. It never shows a value from a request."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open_metrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from affidavit import REASONS
from alerts.delivery.deliver import RESULTS
from hub.metrics.database_state import SELECT_CONNECTIONS
from hub.metrics.views import DIRECTORY_VARIABLE
from intents.reports.verification import ACCEPTED
from wire.http.machine_view import MachineView

pytestmark = pytest.mark.django_db


@pytest.fixture
def headers(settings: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}


def read_values(client: Client, headers: dict[str, str]) -> dict[str, float]:
    """Return the value of each sample by its name and labels."""
    text = client.get("/metrics", headers=headers).content.decode()
    samples = [sample for family in parse_text(text) for sample in family.samples]
    return {f"{sample.name}{sorted(sample.labels.values())}": sample.value for sample in samples}


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer wrong", "Basic {token}", "{token}"])
def test_only_holders_of_the_token_read_the_metrics(client, settings, header):
    headers = {"Accept": "application/json"}
    if header:
        headers["Authorization"] = header.format(token=settings.METRICS_TOKEN)
    answer = client.get("/metrics", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "not-signed-in")
    assert "metrics.token" in answer.json()["detail"]
    assert settings.METRICS_TOKEN not in answer.content.decode()


def test_connections_are_counted_whatever_the_role_of_the_web_processes_may_see():
    with connection.cursor() as cursor:
        cursor.execute(SELECT_CONNECTIONS)
        counts = dict(cursor.fetchall())
        cursor.execute("CREATE ROLE narrow; SET LOCAL ROLE narrow")
        cursor.execute(SELECT_CONNECTIONS)
        assert counts["active"] >= 1
        assert dict(cursor.fetchall()) == {"unknown": sum(counts.values())}


def test_without_a_token_in_the_settings_nobody_reads_the_metrics(client, settings):
    settings.METRICS_TOKEN = ""
    for header in ("Bearer ", "Bearer", ""):
        assert client.get("/metrics", headers={"Authorization": header}).status_code == 401


@pytest.mark.django_db(transaction=True)
def test_items_unknown_ids_and_verifications_are_counted_once_they_are_stored(client, headers, api):
    before = read_values(client, headers)
    outcomes = [{"conversationId": name, "outcomeKey": "purchase"} for name in ("a", "b", "b")]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    assert api.post("/api/conversation-outcomes", {"outcomes": [{"conversationId": 7}]}).status_code == 400
    report = {
        "reportId": "0d4a3f5e-2a54-4a53-8c0c-5f7b6a2c8a11", "verifications": [{"result": "expired", "count": 3}],
    }  # fmt: skip
    assert api.post("/api/verification-reports", report).status_code == 200
    assert api.post("/api/verification-reports", report).status_code == 200  # the same report again is not counted
    after = read_values(client, headers)

    def growth(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    assert growth("affidavit_items_total['outcomes']") == 3
    assert growth("affidavit_unknown_conversations_total[]") == 3  # so the rate of broken joins is 100 %
    assert growth("affidavit_verifications_total['expired']") == 3


def test_each_value_of_a_label_is_shown_before_its_first_count():
    """For Prometheus, a count that first appears as 5,000 has not grown."""
    code = "import wire.metrics.definitions, prometheus_client; print(prometheus_client.generate_latest().decode())"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    shown = {(family.name, *s.labels.values()): s.value for family in parse_text(text) for s in family.samples}
    import_module(settings.ROOT_URLCONF)  # loads every view
    items = {view.items for view in list_subclasses(MachineView) if view.items}
    assert items == {"conversations", "observations", "outcomes", "verifications"}
    for name, values in {
        "affidavit_items": items, "affidavit_verifications": {ACCEPTED, *REASONS},
        "affidavit_alert_deliveries": RESULTS.values(),
    }.items():  # fmt: skip
        assert {key[1]: value for key, value in shown.items() if key[0] == name} == dict.fromkeys(values, 0), name


def list_subclasses(view: type[MachineView]) -> list[type[MachineView]]:
    return [deeper for child in view.__subclasses__() for deeper in (child, *list_subclasses(child))]


def test_requests_are_timed_by_route_and_never_by_a_value(client, headers, workspace):
    client.get("/w/jane-doe/secret-environment/outcomes")
    client.get("/nowhere/jane-doe")
    client.generic("JANE", "/healthz")
    text = client.get("/metrics", headers=headers).content.decode()
    assert 'route="w/<slug:slug>/<str:environment>/outcomes"' in text
    assert 'method="other"' in text
    assert "jane" not in text.lower()
    assert "secret-environment" not in text


def test_a_scraper_that_asks_for_openmetrics_gets_a_complete_document(client, headers):
    answer = client.get("/metrics", headers={**headers, "Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer["Content-Type"].startswith("application/openmetrics-text")
    names = {family.name for family in parse_open_metrics(answer.content.decode())}
    assert {"affidavit_request_seconds", "affidavit_inbox_reports", "affidavit_inbox_oldest_seconds"} <= names
    assert {"affidavit_dead_letters", "affidavit_database_connections", "affidavit_fold_seconds"} <= names


def test_the_counts_of_several_processes_are_summed(client, headers, tmp_path, monkeypatch):
    code = "from wire.metrics.definitions import FOLDED; FOLDED.inc(2)"
    for _ in range(2):
        environment = {**os.environ, DIRECTORY_VARIABLE: str(tmp_path), "DJANGO_SETTINGS_MODULE": "hub.settings"}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    assert read_values(client, headers)["affidavit_folded_reports_total[]"] == 4
