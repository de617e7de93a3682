"""Fixtures for all tests of the hub. The SDK's tests, in sdk/tests, do not use them."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from any_machine import pytest_make_parametrize_id as pytest_make_parametrize_id
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client, TransactionTestCase, override_settings
from django.utils import timezone
from psycopg import sql

from hub.health import get_readiness
from tests.alerts.receiver import Receiver, run_receiver
from tests.sign_in import sign_in_as
from workspaces.create import NewWorkspace, create_workspace
from workspaces.models import Environment, Membership
from workspaces.refusals.counter import get_counter

SHARED = Path(__file__).resolve().parents[2] / "shared"
STANDING_TABLES = {"auth_permission", "django_content_type"}  # the migrations fill these; no test changes them


def delete_rows(_: TransactionTestCase) -> None:
    """Delete the rows that a test committed.

    Django's own way takes longer: it truncates all tables, although most are empty, and fills STANDING_TABLES again.
    """
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    deletions = [
        sql.SQL("DELETE FROM {}").format(sql.Identifier(table)) for table in sorted({*tables} - STANDING_TABLES)
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # so that foreign keys are not checked
        cursor.execute(sql.SQL("; ").join(deletions))  # one text: 60 statements take longer


TransactionTestCase._fixture_teardown = delete_rows


# Nearly all objects that are made while modules are loaded and tests are collected stay in use. With Python's own
# threshold, the garbage collector would traverse them again and again.
gc.set_threshold(50_000, 20, 100)


def pytest_collection_finish() -> None:
    """Exempt all modules and collected tests from garbage collection, which would traverse them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _settings_of_all_tests() -> Iterator[None]:
    """Serve static files under their own names, and switch the rate limits off; tests of the limits set their own.

    Names with hashes would need a collectstatic first. With AUTOREFRESH a file is looked up when it is requested.
    Without it, each new client would read the whole folder.
    """
    staticfiles = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    storages = {**settings.STORAGES, "staticfiles": staticfiles}
    with override_settings(STORAGES=storages, WHITENOISE_AUTOREFRESH=True, RATE_LIMIT=0, ADDRESS_RATE_LIMIT=0):
        yield


@pytest.fixture(autouse=True)
def _new_refusal_counter() -> None:
    """Begin with no refused requests in memory, so that a test never writes the refused requests of another test."""
    get_counter.cache_clear()


@pytest.fixture(autouse=True)
def _new_readiness() -> None:
    """Check the readiness anew, so that no test gets the result of another test."""
    get_readiness.cache_clear()


class Api:
    """A machine that calls the hub with one workspace's secret key."""

    def __init__(self, client: Client, key: str) -> None:
        self.client = client
        self.key = key

    def post(
        self, address: str, body: Any, *, key: str | None = None, headers: Mapping[str, str] | None = None
    ) -> HttpResponse:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        all_headers = {"x-service-api-key": self.key if key is None else key, **(headers or {})}
        return self.client.post(address, raw, content_type="application/json", headers=all_headers)

    def get(
        self, address: str, *, key: str | None = None, headers: Mapping[str, str] | None = None, **query: str
    ) -> HttpResponse:
        all_headers = {"x-service-api-key": self.key if key is None else key, **(headers or {})}
        return self.client.get(address, query, headers=all_headers)


@pytest.fixture(scope="module")
def module_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Let fixtures of a module write rows with which all tests of the module begin.

    Every test of the module must be marked with django_db. Then each test ends with a rollback to these rows.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def workspace(db: None) -> NewWorkspace:
    return create_workspace("Lumen Books", ["staging"], actor="test", now=timezone.now(), with_full_key=True)


@pytest.fixture(scope="module")
def module_workspace(module_rows: None) -> NewWorkspace:
    """Return a workspace with which all tests of the module begin.

    A module whose tests use it has its own fixture `workspace`, which returns `reload_workspace` of it for each test.
    """
    return create_workspace("Lumen Books", ["staging"], actor="test", now=timezone.now(), with_full_key=True)


@pytest.fixture
def other_workspace(db: None) -> NewWorkspace:
    return create_workspace("Other Shop", ["staging"], actor="test", now=timezone.now(), with_full_key=True)


@pytest.fixture
def production(workspace: NewWorkspace) -> Environment:
    return workspace.workspace.environments.get(name="production")


@pytest.fixture
def staging(workspace: NewWorkspace) -> Environment:
    return workspace.workspace.environments.get(name="staging")


@pytest.fixture
def start(workspace: NewWorkspace) -> str:
    """Return the start of the addresses of production's pages."""
    return f"/w/{workspace.workspace.slug}/production"


@pytest.fixture(scope="session")
def connect() -> Callable[[NewWorkspace], Api]:
    """Return a function that makes an Api with a workspace's key of all scopes."""
    return lambda created: Api(Client(raise_request_exception=False), created.full_key)


@pytest.fixture
def api(workspace: NewWorkspace, connect: Callable[[NewWorkspace], Api]) -> Api:
    return connect(workspace)


@pytest.fixture
def browser_client(db: None) -> Client:
    """Return a browser that is signed in as an operator, who may open every workspace."""
    operator = get_user_model().objects.create_superuser("test-operator")
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def admin(workspace: NewWorkspace) -> Client:
    """Return a browser that is signed in as an admin of the workspace."""
    return sign_in_as(Membership.ADMIN, workspace)


@pytest.fixture(scope="session")
def close_nonce_connections(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Close the connections of the nonce store at the end. Each thread has one, which keeps the database in use."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of recorded traffic and published vectors; skip the test if it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder of recorded traffic is not here")
    return SHARED


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """Yield a receiver of webhooks on this machine, to which the hub may send."""
    settings.WEBHOOK_PRIVATE_TARGETS = [ip_network("127.0.0.0/8")]
    with run_receiver() as receiver:
        yield receiver
