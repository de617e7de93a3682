"""What the tests of intents share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from intents import api_urls
from workspaces.create import Created
from workspaces.models import Environment

GATE = ("test_minting.py", "test_confirmations.py", "test_hosted_verification.py")
GATE_PAGES = ("test_inspector_page.py", "test_confirmations_page.py")
# The gate's addresses are served once the step that they belong to begins.
collect_ignore = [] if len(api_urls.urlpatterns) > 1 else [*GATE, *GATE_PAGES]


@pytest.fixture
def production(workspace: Created) -> Environment:
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
