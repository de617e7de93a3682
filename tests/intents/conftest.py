"""What the tests of intents share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from workspaces.create import NewWorkspace
from workspaces.models import Environment


@pytest.fixture
def production(workspace: NewWorkspace) -> Environment:
    return workspace.workspace.environments.get(name="production")


@pytest.fixture(scope="session", autouse=True)
def _nonce_connections_closed(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The nonce store has connections of its own, one per thread; none may hold the test database open."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
