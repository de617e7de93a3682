"""Addresses of brokers, the address of the replica and origins, as the settings read them from variables."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import kombu
import pytest
from kombu.exceptions import OperationalError

from hub.environment_variables import (
    is_broker,
    list_transport_options,
    read_broker_url,
    read_origins,
    read_replica_url,
    read_secret_key,
)
from hub.local.startup_errors import StartupError

ACCEPTED_ADDRESSES = [
    "redis://localhost", "rediss://:p@localhost:1/0", "redis+socket:///s", "sentinel://a:1", "amqp://u:p@[::1]:5672//",
    "amqps://localhost", "pyamqp://localhost", "memory://", "filesystem://",
]  # fmt: skip


@pytest.mark.parametrize("address", ACCEPTED_ADDRESSES)
def test_a_broker_url_that_kombu_knows_is_accepted(address):
    assert is_broker(address)


@pytest.mark.parametrize("address", ["", "nonsense", "redis", "http://localhost", "redis://localhost:70000", "://"])
def test_a_broker_url_that_kombu_does_not_know_is_refused(address):
    assert not is_broker(address)


def test_a_redis_that_takes_connections_but_never_answers_counts_as_away():
    """As one that speaks no TLS does at rediss://."""
    with socket.create_server(("127.0.0.1", 0)) as silent_server:
        address = f"rediss://127.0.0.1:{silent_server.getsockname()[1]}/0?ssl_cert_reqs=none"
        options = {**list_transport_options(address, Path("var")), "socket_timeout": 0.1}
        with kombu.Connection(address, transport_options=options) as broker, pytest.raises(OperationalError):
            broker.ensure_connection(max_retries=1)
    assert list_transport_options(address, Path("var"))["socket_timeout"] == 5


def test_options_of_the_replica_are_those_of_its_own_address(monkeypatch):
    monkeypatch.setenv("REPLICA_DATABASE_URL", "postgresql://r:p@replica/x?sslmode=verify-full")
    primary = {"NAME": "x", "HOST": "primary", "OPTIONS": {"sslmode": "prefer", "application_name": "affidavit"}}
    replica = read_replica_url(primary)
    assert (replica["HOST"], replica["OPTIONS"]["application_name"]) == ("replica", "affidavit")
    assert replica["OPTIONS"]["sslmode"] == "verify-full"


def test_options_of_the_web_server_are_those_of_its_own_address_and_those_of_the_database(tmp_path):
    address = "postgresql://u:p@h/x?sslmode="
    variables = {
        "DATABASE_URL": f"{address}require&sslrootcert=/ca", "WEB_DATABASE_URL": f"{address}verify-full",
        "SECRET_KEY": "k" * 40, "HUB_DATA_DIR": str(tmp_path),
    }  # fmt: skip
    code = (
        "import json; from hub.web_role_settings import DATABASES; print(json.dumps(DATABASES['default']['OPTIONS']))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True
    )
    options = json.loads(output.stdout)
    assert (options["sslmode"], options["sslrootcert"]) == ("verify-full", "/ca")
    assert options["application_name"] == "affidavit"


def test_an_origin_is_what_browsers_send(monkeypatch):
    monkeypatch.setenv("CSRF_TRUSTED_ORIGINS", "https://hub.example.com/, https://hub.example.com:8443")
    assert read_origins("CSRF_TRUSTED_ORIGINS") == ["https://hub.example.com", "https://hub.example.com:8443"]
    monkeypatch.setenv("CSRF_TRUSTED_ORIGINS", "https://hub.example.com/sign-in")
    with pytest.raises(StartupError, match="is no origin"):
        read_origins("CSRF_TRUSTED_ORIGINS")


@pytest.mark.parametrize("address", ["redis://localhost", "amqp://localhost;rediss://localhost", "sentinel://a:1"])
def test_redis_without_its_package_is_refused_with_what_to_install(monkeypatch, address):
    monkeypatch.setitem(sys.modules, "redis", None)  # as if the package were not installed
    monkeypatch.setenv("CELERY_BROKER_URL", address)
    with pytest.raises(StartupError, match=r"pip install -r requirements/redis\.txt"):
        read_broker_url()


def test_a_missing_secret_key_is_that_of_the_data_directory_if_it_has_one(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    assert read_secret_key(tmp_path, is_required=False) == ""
    with pytest.raises(StartupError, match=r"every host\. Set 50 random characters"):
        read_secret_key(tmp_path, is_required=True)
    path = tmp_path / "secret.key"
    path.write_text("k" * 50)
    with pytest.raises(StartupError, match=re.escape(f"Set SECRET_KEY_FILE to {path} if it encrypted the data; else")):
        read_secret_key(tmp_path, is_required=True)
