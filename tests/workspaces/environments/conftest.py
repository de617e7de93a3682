"""Fixtures for tests of environments."""

import pytest


@pytest.fixture
def shop(workspace):
    return workspace.workspace


@pytest.fixture
def staging(shop):
    return shop.environments.get(name="staging")
