"""The doctor sees a broker that takes no messages, reports that wait to be folded, and late alerts."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.utils import timezone
from support import store_servers

from alerts.delivery.deliver import claim_target
from alerts.models import Target
from catalog.models import WitnessReport
from hub.doctor.background_work import check_alerts, check_fold_lag
from tests.alerts.alerts import make_target
from tests.hub.hub_process import running_hub
from workspaces.models import Environment


@pytest.fixture
def redis_socket(tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield the socket of a Redis. It is the installed redis-server, or the one in a wheel if none is installed."""
    installed = store_servers.shutil.which("redis-server")
    monkeypatch.setattr(store_servers, "REDIS_SERVER", installed or store_servers.REDIS_SERVER)
    folder = tmp_path_factory.mktemp("redis")
    with store_servers.redis_server(folder):
        yield folder / "redis.sock"


def test_a_broker_whose_memory_is_full_is_named_as_the_fault(tmp_path: Path, redis_socket: Path) -> None:
    client = redis.Redis(unix_socket_path=str(redis_socket))
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", "1")
    with running_hub(tmp_path) as hub:
        hub.settings["CELERY_BROKER_URL"] = f"redis+socket://{redis_socket}"
        checks = json.loads(hub.manage("doctor", "--json").stdout)["checks"]
    assert checks["broker"]["state"] == "ok"
    assert checks["worker"]["state"] == "wrong"
    assert checks["worker"]["detail"] == "The broker takes no messages (OutOfMemoryError)."
    assert "memory" in checks["worker"]["cure"]


@pytest.mark.django_db
def test_a_report_that_waits_for_an_hour_is_wrong(workspace):
    environment = Environment.objects.get(workspace=workspace.workspace, name="production")
    assert check_fold_lag().state == "ok"
    WitnessReport.objects.create(
        environment=environment, report_id="0" * 32, size=1,
        received_at=timezone.now() - timedelta(hours=1),
    )  # fmt: skip
    assert check_fold_lag().state == "wrong"


@pytest.mark.django_db
def test_an_overdue_delivery_of_an_alert_is_wrong_until_a_worker_claims_it(workspace, receiver):
    make_target(workspace, receiver.url)
    now = timezone.now()
    assert check_alerts().state == "ok"
    Target.objects.update(next_attempt_at=now - timedelta(minutes=2))
    assert check_alerts().state == "wrong"
    claim_target(now=now)
    assert check_alerts().state == "ok"
