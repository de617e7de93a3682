"""A running hub for all tests that do not stop it. A test that writes more than nothing makes its own workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.hub.hub_process import Hub, running_hub


@pytest.fixture(scope="session")
def _new_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("a common hub")) as hub:
        yield hub


@pytest.fixture(scope="session")
def hub_keys(_new_hub: Hub) -> dict[str, Any]:
    """Return the workspace with which the common hub begins, with its keys, as `create_workspace` printed it."""
    return _new_hub.copy_workspace()


@pytest.fixture(scope="session")
def hub(_new_hub: Hub, hub_keys: dict[str, Any]) -> Hub:
    _new_hub.start()
    return _new_hub
