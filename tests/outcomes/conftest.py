"""Fixtures for tests of outcomes."""

from __future__ import annotations

import pytest

from workspaces.create import NewWorkspace
from workspaces.models import Environment


@pytest.fixture
def environments(workspace: NewWorkspace) -> tuple[Environment, ...]:
    """Return production and staging, as they are without the data that other fixtures of these names store."""
    return tuple(workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
