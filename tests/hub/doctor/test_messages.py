"""The doctor's check of the worker, with a broker that answers but takes no messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import redis
from support import store_servers

from tests.hub.hub_process import running_hub


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
