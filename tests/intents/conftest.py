"""Fixtures of the tests of intents."""

from __future__ import annotations

import pytest

from workspaces.create import NewWorkspace
from workspaces.models import Environment


@pytest.fixture
def production(workspace: NewWorkspace) -> Environment:
    return workspace.workspace.environments.get(name="production")


@pytest.fixture(scope="session", autouse=True)
def _close_nonce_connections(close_nonce_connections: None) -> None:
    """Close the connections of the nonce store, which every test of intents may use."""
