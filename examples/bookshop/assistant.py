"""The assistant platform. It registers conversations, lets the hub mint intents, and calls the shop with them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Generator, Mapping
from copy import copy
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlencode

from examples.bookshop.calls import Answer, Call
from examples.bookshop.habits import DECLINED_SHARE, EARLY_STEP_UP_SHARE, LOST_ANSWER_SHARE, UNDECIDED_SHARE
from examples.bookshop.shop import STEP_UP_PATH, compute_pin

INTENT = "X-Service-Intent"
CONFIRMATION_LIFETIME = 900  # seconds until a pending confirmation expires
POLL_INTERVAL = 15  # seconds between two attempts to mint

CallSteps = Generator[float, None, Answer | None]
"""The steps of a call. The generator yields the seconds to wait before the next step, and returns the last answer."""


class KeyRefused(Exception):
    """The hub does not know the key: the workspace was removed, or the key was revoked."""


class HubAway(Exception):
    """The hub cannot answer now: it is overloaded or unavailable."""


@dataclass(frozen=True)
class ToolCall:
    """One call of the shop for an end user.

    query: arguments of a read.
    body: arguments of other calls.
    """

    sub: str
    method: str
    path: str
    query: Mapping[str, str] | None = None
    body: Any = None
    step_up: bool = False

    @property
    def operation(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def args(self) -> Any:
        return self.body if self.body is not None else dict(self.query or {})

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


@dataclass(frozen=True)
class Site:
    """The environment in which an assistant works, and the signing secret of its workspace."""

    workspace: str
    environment: str
    audience: str
    signing_secret: str


def list_sites(workspace_facts: Mapping[str, Any]) -> list[Site]:
    """Return the environments of a new workspace from the output of `create_workspace --json`."""
    return [
        Site(workspace_facts["workspaceId"], name, audience, workspace_facts["signingSecret"])
        for name, audience in workspace_facts["audiences"].items()
    ]


class Assistant:
    """The assistant of one environment.

    hub, shop: functions that send a request to the hub and to the shop.
    order_sync: the outcome reporter of the shop's order sync job in this environment.
    pace: the factor of what `pause` returns. With 1, pauses are as long as a person's.
    """

    def __init__(
        self,
        site: Site,
        hub: Call,
        shop: Call,
        *,
        key: str,
        now: Callable[[], float],
        chance: Random,
        order_sync: Any = None,
        pace: float = 1.0,
    ) -> None:
        self.site = site
        self.order_sync = order_sync
        self.now = now
        self.chance = chance
        self.pace = pace
        self._hub = hub
        self._shop = shop
        self._key = key

    def ask_hub(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send a POST to the hub for this environment. Raises KeyRefused and HubAway."""
        body = {"environment": self.site.environment, **body}
        answer = self._hub("POST", path, body, {"x-service-api-key": self._key})
        if answer.status == 401:
            raise KeyRefused
        if answer.status == 429 or answer.status >= 500:
            raise HubAway
        return answer

    def pause(self, shortest: float, longest: float) -> float:
        return self.pace * self.chance.uniform(shortest, longest)

    def register(self, conversation_id: str) -> None:
        conversation = {"conversationId": conversation_id, "startedAt": int(self.now())}
        self.ask_hub("/api/conversations", {"conversations": [conversation]})

    def mint(self, call: ToolCall, **fields: Any) -> str:
        """Return the header for a call; "" if the hub mints none because a confirmation is missing."""
        body = {"sub": call.sub, "operation": call.operation, "args": call.args, **fields}
        answer = self.ask_hub("/api/intents", body)
        return answer.json["header"] if answer.status == 201 else ""

    def send(self, call: ToolCall, header: str | None) -> Answer:
        """Send the call with this header, even if the header is for another call; return the shop's answer."""
        headers = {} if header is None else {INTENT: header}
        return self._shop(call.method, call.target, call.body, headers)

    def read(self, call: ToolCall) -> Answer:
        return self.send(call, self.mint(call))

    def write(self, call: ToolCall, summary: str, *, tampered_call: ToolCall | None = None) -> CallSteps:
        """Make a write once its user has confirmed it. Return None if the user does not confirm it.

        tampered_call: the call to send with the intent of `call`, in place of `call`.
        """
        call_fields = {"toolCallId": self.new_call_id(), "confirmationId": self.request_confirmation(call, summary)}
        step_up_fields = {"requiresStepUp": True} if call.step_up else {}
        header = yield from self.mint_when_confirmed(call, {**call_fields, **step_up_fields})
        if not header:
            return None
        if call.step_up and self.chance.random() < EARLY_STEP_UP_SHARE:
            yield self.pause(5, 15)
            self.step_up(call.sub)
        answer = self.send(tampered_call or call, header)
        if is_step_up_missing(answer):
            yield self.pause(10, 30)
            self.step_up(call.sub)
            answer = self.send(call, self.mint(call, **call_fields, **step_up_fields))
        elif answer.status < 300 and self.chance.random() < LOST_ANSWER_SHARE:
            yield self.pause(1, 3)  # the answer was lost: retry with the same toolCallId and a fresh nonce
            answer = self.send(call, self.mint(call, **call_fields, **step_up_fields))
        return answer

    def request_confirmation(self, call: ToolCall, summary: str) -> str:
        """Request a confirmation; return its id."""
        body = {"sub": call.sub, "operation": call.operation, "args": call.args, "summary": summary}
        return self.ask_hub("/api/confirmations", body).json["confirmationId"]

    def mint_when_confirmed(self, call: ToolCall, call_fields: Mapping[str, Any]) -> Generator[float, None, str]:
        """Return the header once the call is confirmed; "" if it is declined or not decided."""
        draw = self.chance.random()
        if draw < UNDECIDED_SHARE:  # the user does not answer; someone may decide on the hub's page
            for _ in range(CONFIRMATION_LIFETIME // POLL_INTERVAL):
                yield POLL_INTERVAL
                if header := self.mint(call, **call_fields):
                    return header
            return ""
        yield self.pause(4, 25)
        decision = "decline" if draw < UNDECIDED_SHARE + DECLINED_SHARE else "confirm"
        self.ask_hub(f"/api/confirmations/{call_fields['confirmationId']}/decision", {"decision": decision})
        return self.mint(call, **call_fields)

    def new_call_id(self) -> str:
        return f"call_{self.chance.getrandbits(60):015x}"

    def step_up(self, sub: str) -> None:
        """Enter the PIN on the shop's own page, as the user does."""
        self._shop("POST", STEP_UP_PATH, {"user": sub, "pin": compute_pin(sub)}, {})

    def sign_version_1(self, call: ToolCall, **changes: Any) -> str:
        """Return a version 1 header, as older parts of the platform sign it. It binds method and path (contract §3)."""
        payload = {
            "toolCallId": self.new_call_id(),
            "tenantId": self.site.workspace,
            "userId": call.sub,
            "method": call.method,
            "path": call.path,
            "issuedAt": int(self.now()),
            "expiresAt": int(self.now()) + 300,
            **changes,
        }
        return encode_envelope(payload, self.site.signing_secret)

    def with_site(self, site: Site) -> Assistant:
        """Return a copy that signs for another environment, but calls the same shop."""
        twin = copy(self)
        twin.site = site
        return twin

    def with_key(self, key: str) -> Assistant:
        """Return a copy that calls the hub with another key."""
        twin = copy(self)
        twin._key = key
        return twin

    def with_pace(self, pace: float) -> Assistant:
        twin = copy(self)
        twin.pace = pace
        return twin


def encode_envelope(payload: Mapping[str, Any], secret: str) -> str:
    """Return the base64url of payload and signature (contract §3)."""
    text = json.dumps(payload, separators=(",", ":"))
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    envelope = f'{{"payload":{text},"signature":"{signature}"}}'
    return base64.urlsafe_b64encode(envelope.encode()).rstrip(b"=").decode()


def is_step_up_missing(answer: Answer) -> bool:
    return answer.status == 403 and isinstance(answer.json, dict) and answer.json.get("reason") == "step-up-required"
