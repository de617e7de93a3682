"""Fixtures for tests of alerts."""

from __future__ import annotations

import pytest

from alerts.models import Target
from tests.alerts.alerts import make_target


@pytest.fixture
def target(workspace, receiver) -> Target:
    return make_target(workspace, receiver.url)[0]
