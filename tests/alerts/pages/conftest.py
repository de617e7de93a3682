"""An admin who opens the pages of alerts, and a target."""

from __future__ import annotations

import pytest

from alerts.models import Target
from tests.alerts.alerts import make_target


@pytest.fixture
def target(workspace, receiver) -> Target:
    return make_target(workspace, receiver.url)[0]
