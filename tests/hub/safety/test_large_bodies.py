"""A client that sends a large body at once still gets the reason for its refusal (over real sockets)."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("whole hub")


@pytest.mark.parametrize("megabytes", [4.1, 20, 60])
def test_a_body_that_is_too_large_is_refused_with_the_reason(hub, hub_keys, megabytes):
    body = {"outcomes": "x" * int(megabytes * 1024 * 1024)}
    for _ in range(5):
        status, problem, _ = hub.request("/api/conversation-outcomes", body, key=hub_keys["secretKey"])
        assert (status, problem["code"]) == (413, "body-too-large")


def test_a_large_body_of_another_type_is_refused_with_the_reason(hub, hub_keys):
    headers = {"Content-Type": "text/csv"}
    for _ in range(5):
        answer = hub.request("/api/conversation-outcomes", "x" * 4_000_000, key=hub_keys["secretKey"], headers=headers)
        assert answer[0] == 415
