"""An admin who opens the pages of alerts, and a target."""

from __future__ import annotations

import pytest
from django.test import Client

from alerts.models import Target
from tests.alerts.alerts import make_target
from tests.alerts.pages.alert_pages import client_with
from workspaces.models import Membership


@pytest.fixture
def admin(workspace) -> Client:
    return client_with(Membership.ADMIN, workspace)


@pytest.fixture
def target(workspace, receiver) -> Target:
    return make_target(workspace, receiver.url)[0]
