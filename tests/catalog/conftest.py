"""A workspace that tests of several rooms of the catalog read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.catalog.reports import deliver, observation


@pytest.fixture
def drifted_workspace(api: Any, workspace: Any) -> Any:
    """Return a workspace whose `GET /orders/{orderId}` has three versions: of its three changes, two are breaking."""
    deliver(api, workspace, *[observation(response={"id": 1, "note": "x"})] * 30, observation("GET", "/health", 204))
    deliver(api, workspace, observation(response={"id": 1, "note": "x", "total": 2}))
    deliver(api, workspace, observation(response={"id": "1", "note": None}))
    return workspace
