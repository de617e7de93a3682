"""Calls that must be rejected, one for each reason of the contract except `step-up-required`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import affidavit
from examples.bookshop.assistant import Assistant, CallSteps, Site, ToolCall

RETIRED_SECRET = "gas_" + "0" * 43  # an example of a secret that a rotation has retired
DAY = 86_400
LATE_SECONDS = 400  # longer than an intent is valid

Mistake = Callable[[Assistant, Site, ToolCall], CallSteps]
"""A function that makes a wrong call for an assistant.

It gets the site of the other environment, and a call that only reads, which it may send.
"""


def sign(assistant: Assistant, call: ToolCall, *, issued_in: float = 0, secret: str = "", workspace: str = "") -> str:
    """Return a version 2 header that is signed without the hub.

    issued_in: how many seconds from now the intent says that it was issued; negative for the past.
    """
    site = assistant.site
    return affidavit.mint_intent(
        secret or site.signing_secret, tenant_id=workspace or site.workspace, sub=call.sub, aud=site.audience,
        operation=call.operation, args=call.args, tool_call_id=assistant.new_call_id(), now=assistant.now() + issued_in,
    ).header  # fmt: skip


def with_header(make_header: Callable[[Assistant, Site, ToolCall], str | None]) -> Mistake:
    """Return a mistake that sends the call with the wrong header that `make_header` returns."""

    def mistake(assistant: Assistant, other: Site, call: ToolCall) -> CallSteps:
        yield from ()
        return assistant.send(call, make_header(assistant, other, call))

    return mistake


def lost_header(assistant: Assistant, other: Site, call: ToolCall) -> str | None:
    return None


def cut_header(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return assistant.mint(call)[:-24]


def retired_secret(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return sign(assistant, call, secret=RETIRED_SECRET)


def fast_clock(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return sign(assistant, call, issued_in=180)


def long_lived(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return assistant.sign_version_1(call, expiresAt=int(assistant.now()) + 30 * DAY)


def other_tenant(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return sign(assistant, call, workspace="ws_anotherworkspace")


def other_audience(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return assistant.with_site(other).mint(call)


def other_operation(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return assistant.mint(replace(call, path=call.path + "/"))


def other_method(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return assistant.sign_version_1(replace(call, method="POST"))


def other_path(assistant: Assistant, other: Site, call: ToolCall) -> str:
    return assistant.sign_version_1(replace(call, path="/api" + call.path))


def send_tampered_arguments(assistant: Assistant, other: Site, call: ToolCall) -> CallSteps:
    """Change the body after signing."""
    add_line = ToolCall(call.sub, "POST", "/cart/lines", body={"bookId": 104, "quantity": 1})
    tampered_call = replace(add_line, body={"bookId": 104, "quantity": 10})
    return (
        yield from assistant.write(add_line, "Put 1 × Wuthering Heights into the cart", tampered_call=tampered_call)
    )


def deliver_late(assistant: Assistant, other: Site, call: ToolCall) -> CallSteps:
    """Keep the call in a queue until its intent has expired."""
    header = assistant.mint(call, toolCallId=assistant.new_call_id())
    yield LATE_SECONDS
    return assistant.send(call, header)


def send_twice(assistant: Assistant, other: Site, call: ToolCall) -> CallSteps:
    """Repeat the request with the same header, as a proxy may."""
    header = assistant.mint(call)
    assistant.send(call, header)
    yield assistant.pause(1, 2)
    return assistant.send(call, header)


def send_version_1(assistant: Assistant, other: Site, call: ToolCall) -> CallSteps:
    """Request a refund with version 1; the shop accepts refunds with version 2 only."""
    refund = ToolCall(call.sub, "POST", "/refunds", body={"orderId": 10_001, "reason": "damaged"})
    yield from ()
    return assistant.send(refund, assistant.sign_version_1(refund))


MISTAKES: Mapping[str, tuple[int, Mistake]] = {
    "missing-header": (9, with_header(lost_header)),
    "malformed": (5, with_header(cut_header)),
    "bad-signature": (8, with_header(retired_secret)),
    "unsupported-version": (7, send_version_1),
    "expired": (24, deliver_late),
    "not-yet-valid": (3, with_header(fast_clock)),
    "lifetime-too-long": (1, with_header(long_lived)),
    "tenant-mismatch": (2, with_header(other_tenant)),
    "audience-mismatch": (12, with_header(other_audience)),
    "operation-mismatch": (6, with_header(other_operation)),
    "method-mismatch": (2, with_header(other_method)),
    "path-mismatch": (4, with_header(other_path)),
    "args-mismatch": (16, send_tampered_arguments),
    "replayed": (9, send_twice),
}
"""The mistakes by reason, each with its relative frequency. `step-up-required` has no entry: refunds lead to it."""
