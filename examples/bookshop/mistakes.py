"""Calls that must not pass, one way for each reason of the contract: what goes wrong between a platform and a shop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import affidavit
from examples.bookshop.assistant import Assistant, Place, ToolCall, Waits

RETIRED_SECRET = "gas_" + "0" * 43  # stands for one that a rotation has put out of force
DAY = 86_400

Mistake = Callable[[Assistant, Place, ToolCall], Waits]
"""Makes a call of an assistant go wrong; the place is the other environment, the call a read."""


def signed(assistant: Assistant, call: ToolCall, *, issued: float = 0, secret: str = "", workspace: str = "") -> str:
    """A version 2 header of a part of the platform that signs for itself. issued: seconds from now."""
    place = assistant.place
    return affidavit.mint_intent(
        secret or place.signing_secret, tenant_id=workspace or place.workspace, sub=call.sub, aud=place.audience,
        operation=call.operation, args=call.args, tool_call_id=assistant.new_call_id(), now=assistant.now() + issued,
    ).header  # fmt: skip


def at_once(header_of: Callable[[Assistant, Place, ToolCall], str | None]) -> Mistake:
    """A mistake that is all in the header."""

    def mistake(assistant: Assistant, other: Place, call: ToolCall) -> Waits:
        yield from ()
        return assistant.send(call, header_of(assistant, other, call))

    return mistake


def lost_header(assistant: Assistant, other: Place, call: ToolCall) -> str | None:
    return None


def cut_header(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return assistant.minted(call)[:-24]


def retired_secret(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return signed(assistant, call, secret=RETIRED_SECRET)


def late_delivery(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return signed(assistant, call, issued=-400)


def fast_clock(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return signed(assistant, call, issued=180)


def long_lived(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return assistant.legacy(call, expiresAt=int(assistant.now()) + 30 * DAY)


def other_tenant(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return signed(assistant, call, workspace="ws_anotherworkspace")


def other_audience(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return assistant.mistaken_for(other).minted(call)


def other_operation(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return assistant.minted(replace(call, path=call.path + "/"))


def other_method(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return assistant.legacy(replace(call, method="POST"))


def other_path(assistant: Assistant, other: Place, call: ToolCall) -> str:
    return assistant.legacy(replace(call, path="/api" + call.path))


def other_arguments(assistant: Assistant, other: Place, call: ToolCall) -> Waits:
    """The body is changed after signing."""
    put = ToolCall(call.sub, "POST", "/cart/lines", body={"bookId": 104, "quantity": 1})
    changed = replace(put, body={"bookId": 104, "quantity": 10})
    return (yield from assistant.write(put, "Put 1 × Wuthering Heights into the cart", sent=changed))


def used_twice(assistant: Assistant, other: Place, call: ToolCall) -> Waits:
    """A proxy repeats the request with the same header."""
    header = assistant.minted(call)
    assistant.send(call, header)
    yield assistant.pause(1, 2)
    return assistant.send(call, header)


def old_version(assistant: Assistant, other: Place, call: ToolCall) -> Waits:
    """The shop refunds on version 2 only."""
    refund = ToolCall(call.sub, "POST", "/refunds", body={"orderId": 10_001, "reason": "damaged"})
    yield from ()
    return assistant.send(refund, assistant.legacy(refund))


MISTAKES: Mapping[str, tuple[int, Mistake]] = {
    "missing-header": (9, at_once(lost_header)),
    "malformed": (5, at_once(cut_header)),
    "bad-signature": (8, at_once(retired_secret)),
    "unsupported-version": (7, old_version),
    "expired": (24, at_once(late_delivery)),
    "not-yet-valid": (3, at_once(fast_clock)),
    "lifetime-too-long": (1, at_once(long_lived)),
    "tenant-mismatch": (2, at_once(other_tenant)),
    "audience-mismatch": (12, at_once(other_audience)),
    "operation-mismatch": (6, at_once(other_operation)),
    "method-mismatch": (2, at_once(other_method)),
    "path-mismatch": (4, at_once(other_path)),
    "args-mismatch": (16, other_arguments),
    "replayed": (9, used_twice),
}
"""By the reason that they lead to, each with how often it happens among the others; step-up comes with refunds."""
