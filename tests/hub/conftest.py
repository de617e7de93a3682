"""The hub of all tests that need one which runs, and leave it running; each makes workspaces of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hub.running import Hub, running_hub


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("a common hub")) as hub:
        hub.start()
        yield hub
