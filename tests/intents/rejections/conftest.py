"""Fixtures of the tests of the page of rejections."""

from __future__ import annotations

import pytest

from intents.reports.record import record_verifications
from tests.intents.rejections.verifications import build_verification


@pytest.fixture
def page(workspace, browser_client):
    """Return a function that requests the page of production, or a download by its suffix."""

    def read(suffix: str = "", **query: str):
        return browser_client.get(f"/w/{workspace.workspace.slug}/production/rejections{suffix}", query)

    return read


@pytest.fixture
def filled_environment(production):
    record_verifications(
        production,
        [
            build_verification("accepted", version=2, operation="GET /orders", count=90),
            build_verification("accepted", version=1, operation="POST /refunds", count=10),
            build_verification("expired", version=2, operation="GET /orders", tool_call_id="call_1", count=3),
            build_verification("expired", version=1, operation="POST /refunds", tool_call_id="call_2"),
            build_verification("args-mismatch", days_ago=2, version=2, operation="POST /refunds"),
            build_verification("missing-header", days_ago=2),
            build_verification("replayed", days_ago=9, version=2, operation="GET /orders", count=7),
        ],
    )
    return production
