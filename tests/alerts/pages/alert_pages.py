"""What the tests of the pages of alerts share: their addresses, a filled form, and how to read a page."""

from __future__ import annotations

import re

from django.contrib.auth import get_user_model
from django.test import Client

from tests.catalog.reports import deliver, observation
from workspaces.models import Membership

PAGE = "/w/lumen-books/production/alerts"
LOG = "/w/lumen-books/production/deliveries"
FORM = {
    "kind": "drift.breaking", "environment": "production", "reason_minimum": "1", "minimum": "20", "minutes": "60",
    "percent": "1", "factor": "3", "silent_minutes": "60",
}  # fmt: skip


def client_with(role: str, created) -> Client:
    user = get_user_model().objects.create_user(f"{role} of {created.workspace.slug}")
    Membership.objects.create(workspace=created.workspace, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def read(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def break_operation(api, workspace) -> None:
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    deliver(api, workspace, *[observation(response={"id": "1"})] * 30)
