"""How the tests of the overview read it."""

import pytest

from tests.hub.overview.overview_page import PAGE


@pytest.fixture
def overview(browser_client, workspace):
    return lambda query="": browser_client.get(PAGE + query).content.decode()
