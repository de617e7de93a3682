"""How the tests of the overview read it."""

import pytest

from tests.hub.overview.overview_page import PAGE
from tests.page_text import read_html


@pytest.fixture
def overview(browser_client, workspace):
    return lambda query="": read_html(browser_client.get(PAGE + query))
