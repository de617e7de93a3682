"""Fixtures for tests of environments."""

import pytest


@pytest.fixture
def shop(workspace):
    return workspace.workspace
