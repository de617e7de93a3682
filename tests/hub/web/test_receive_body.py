"""The body of a request is received complete, within its limit and not slower than the least rate."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.web import receive_body as receive_body_module
from hub.web.receive_body import BodyBroken, BodyTooSlow, Buffer, receive_body
from tests.hub.web.request_bodies import receive_pieces
from wire.http.body import MAX_BODY_BYTES


@given(st.lists(st.binary(max_size=200)))
def test_a_body_is_the_sum_of_its_pieces(pieces):
    buffer = Buffer()
    assert asyncio.run(receive_body(receive_pieces(pieces), buffer)) == b"".join(pieces)
    assert buffer.size == 0


def test_of_a_body_that_is_too_large_only_one_byte_beyond_the_limit_is_kept():
    pieces = [b"x" * 1024 * 1024] * 10
    body = asyncio.run(receive_body(receive_pieces(pieces), Buffer()))
    assert len(body) == MAX_BODY_BYTES + 1


@pytest.mark.parametrize("ends", [True, False])
def test_a_body_slower_than_the_minimum_rate_is_given_up(monkeypatch, ends):
    monkeypatch.setattr(receive_body_module, "GRACE_SECONDS", 0.2)
    buffer = Buffer()
    with pytest.raises(BodyTooSlow):
        asyncio.run(receive_body(receive_pieces([b"x"] * 1000, pause=0.05, ends=ends), buffer))
    assert buffer.size == 0


def test_a_body_faster_than_the_minimum_rate_may_take_longer_than_the_grace(monkeypatch):
    monkeypatch.setattr(receive_body_module, "GRACE_SECONDS", 0.2)
    pieces = [b"x" * 64 * 1024] * 10
    assert len(asyncio.run(receive_body(receive_pieces(pieces, pause=0.1), Buffer()))) == 640 * 1024


def test_a_client_that_hangs_up_is_an_error_and_not_an_empty_body():
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    with pytest.raises(BodyBroken):
        asyncio.run(receive_body(receive, Buffer()))
