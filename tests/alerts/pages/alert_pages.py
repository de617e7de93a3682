"""What the tests of the pages of alerts share: their addresses, a filled form, and how to read a page."""

from __future__ import annotations

import re

from django.test import Client

from tests.catalog.reports import deliver, observation

PAGE = "/w/lumen-books/production/alerts"
LOG = "/w/lumen-books/production/deliveries"
FORM = {
    "kind": "drift.breaking", "environment": "production", "reason_minimum": "1", "minimum": "20", "minutes": "60",
    "percent": "1", "factor": "3", "silent_minutes": "60",
}  # fmt: skip


def read(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def break_operation(api, workspace) -> None:
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    deliver(api, workspace, *[observation(response={"id": "1"})] * 30)
