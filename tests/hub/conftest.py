"""A running hub for all tests that do not stop it. Each test makes its own workspaces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hub.hub_process import Hub, running_hub


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("a common hub")) as hub:
        hub.start()
        yield hub
