"""The answers of /healthz and /readyz, and who gets them."""

from __future__ import annotations

import time
from collections import namedtuple
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from catalog.models import WitnessReport
from hub import health
from workspaces.models import Environment

pytestmark = pytest.mark.django_db


def test_a_ready_hub_says_what_it_checked(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ready"
    assert {name: check["ok"] for name, check in answer.json()["checks"].items()} == {
        "database": True, "migrations": True, "disk": True,
    }  # fmt: skip
    assert answer.json()["oldestUnfoldedSeconds"] is None


def test_health_needs_no_key(client):
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_report_that_waits_for_the_worker_is_reported_and_leaves_this_process_ready(client, workspace):
    environment = Environment.objects.get(workspace=workspace.workspace, name="production")
    WitnessReport.objects.create(
        environment=environment, report_id=uuid4(), size=1,
        received_at=timezone.now() - timedelta(hours=1),
    )  # fmt: skip
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["oldestUnfoldedSeconds"] > 3500


def test_a_read_only_database_is_not_ready(client, monkeypatch):
    def refuse() -> None:
        raise OperationalError("could not extend file: No space left on device")

    monkeypatch.setattr(health, "write_to_log", refuse)
    answer = client.get("/readyz")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["checks"]["database"] == {"ok": False, "detail": "OperationalError"}


def test_a_disk_that_is_nearly_full_is_not_ready(client, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: usage(100, 99, 1))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["disk"] == {"ok": False, "freeBytes": 1}


def test_many_requests_make_one_check_a_second(client, monkeypatch):
    """Nothing limits how often strangers ask."""
    writes = []
    monkeypatch.setattr(health, "write_to_log", lambda: writes.append(1))
    assert {client.get("/readyz").status_code for _ in range(5)} == {200}
    assert len(writes) == 1
    monkeypatch.setattr(health.time, "monotonic", lambda now=time.monotonic: now() + health.KEPT_SECONDS)
    client.get("/readyz")
    assert len(writes) == 2
