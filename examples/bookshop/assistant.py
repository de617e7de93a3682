"""The assistant platform: registers conversations, has intents minted by the hub, and calls the shop with them."""

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
from examples.bookshop.shop import STEP_UP_PATH, pin_of

INTENT = "X-Service-Intent"
GATE_PATIENCE = 900  # seconds that a confirmation can wait for its decision
ASKED_AGAIN = 15  # seconds between two looks at it
LEFT_OPEN, DECLINED = 0.04, 0.09  # shares of confirmations
FORESEEN = 0.8  # share of the calls for which the user steps up before being told to
LOST_ANSWERS = 0.03

Waits = Generator[float, None, Answer | None]
"""A course of events: gives the seconds to wait before it goes on, and in the end the last answer."""


class KeyRefused(Exception):
    """The hub does not know the key any more: the workspace is gone, or the key was revoked."""


class HubAway(Exception):
    """The hub cannot answer now."""


@dataclass(frozen=True)
class ToolCall:
    """One call of the shop for an end user. query: arguments of a read; body: of anything else."""

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
class Place:
    """Where an assistant works: a workspace's environment, and what signs there."""

    workspace: str
    environment: str
    audience: str
    signing_secret: str


def places_of(created: Mapping[str, Any]) -> list[Place]:
    """The environments of a new workspace, out of what `create_workspace --json` prints."""
    return [
        Place(created["workspaceId"], name, audience, created["signingSecret"])
        for name, audience in created["audiences"].items()
    ]


class Assistant:
    """Works in one environment. hub, shop: how to call them; pace: of its waits, 1 for that of people."""

    def __init__(
        self,
        place: Place,
        hub: Call,
        shop: Call,
        *,
        key: str,
        now: Callable[[], float],
        chance: Random,
        pace: float = 1.0,
    ) -> None:
        self.place = place
        self.now = now
        self.chance = chance
        self.pace = pace
        self._hub = hub
        self._shop = shop
        self._key = key

    def ask_hub(self, path: str, body: Mapping[str, Any]) -> Answer:
        """A POST to the hub for this environment. Raises KeyRefused and HubAway."""
        told = {"environment": self.place.environment, **body}
        answer = self._hub("POST", path, told, {"x-service-api-key": self._key})
        if answer.status == 401:
            raise KeyRefused
        if answer.status == 429 or answer.status >= 500:
            raise HubAway
        return answer

    def pause(self, shortest: float, longest: float) -> float:
        return self.pace * self.chance.uniform(shortest, longest)

    def register(self, conversation_id: str) -> None:
        started = {"conversationId": conversation_id, "startedAt": int(self.now())}
        self.ask_hub("/api/conversations", {"conversations": [started]})

    def minted(self, call: ToolCall, **further: Any) -> str:
        """The header for a call; empty where the hub does not mint it, for want of a confirmation."""
        told = {"sub": call.sub, "operation": call.operation, "args": call.args, **further}
        answer = self.ask_hub("/api/intents", told)
        return answer.json["header"] if answer.status == 201 else ""

    def send(self, call: ToolCall, header: str | None) -> Answer:
        """What the shop answers to the call under this intent, whether it fits or not."""
        headers = {} if header is None else {INTENT: header}
        return self._shop(call.method, call.target, call.body, headers)

    def read(self, call: ToolCall) -> Answer:
        return self.send(call, self.minted(call))

    def write(self, call: ToolCall, summary: str, *, sent: ToolCall | None = None) -> Waits:
        """A changing call, once its user has confirmed it; None if not. sent: what is sent in its place."""
        known = {"toolCallId": self.new_call_id(), "confirmationId": self.asked(call, summary)}
        demands = {"requiresStepUp": True} if call.step_up else {}
        header = yield from self.once_confirmed(call, {**known, **demands})
        if not header:
            return None
        if call.step_up and self.chance.random() < FORESEEN:
            yield self.pause(5, 15)
            self.step_up(call.sub)
        answer = self.send(sent or call, header)
        if is_step_up_missing(answer):
            yield self.pause(10, 30)
            self.step_up(call.sub)
            answer = self.send(call, self.minted(call, **known, **demands))
        elif answer.status < 300 and self.chance.random() < LOST_ANSWERS:
            yield self.pause(1, 3)  # the answer got lost on the way: the same toolCallId, a fresh nonce
            answer = self.send(call, self.minted(call, **known, **demands))
        return answer

    def asked(self, call: ToolCall, summary: str) -> str:
        """The id of a confirmation that waits for its decision."""
        told = {"sub": call.sub, "operation": call.operation, "args": call.args, "summary": summary}
        return self.ask_hub("/api/confirmations", told).json["confirmationId"]

    def once_confirmed(self, call: ToolCall, known: Mapping[str, Any]) -> Generator[float, None, str]:
        """The header, when the gate lets the call through; empty when it was declined or nobody decided."""
        chance = self.chance.random()
        if chance < LEFT_OPEN:  # no answer in the chat; whoever decides it on the hub's page, decides it for good
            for _ in range(GATE_PATIENCE // ASKED_AGAIN):
                yield ASKED_AGAIN
                if header := self.minted(call, **known):
                    return header
            return ""
        yield self.pause(4, 25)
        decision = "decline" if chance < LEFT_OPEN + DECLINED else "confirm"
        self.ask_hub(f"/api/confirmations/{known['confirmationId']}/decision", {"decision": decision})
        return self.minted(call, **known)

    def new_call_id(self) -> str:
        return f"call_{self.chance.getrandbits(60):015x}"

    def step_up(self, sub: str) -> None:
        """The user goes to the shop's own page and gives the PIN there."""
        self._shop("POST", STEP_UP_PATH, {"user": sub, "pin": pin_of(sub)}, {})

    def legacy(self, call: ToolCall, **changed: Any) -> str:
        """A version 1 header, as older parts of the platform sign them: it binds method and path only (spec 2.3)."""
        payload = {
            "toolCallId": self.new_call_id(),
            "tenantId": self.place.workspace,
            "userId": call.sub,
            "method": call.method,
            "path": call.path,
            "issuedAt": int(self.now()),
            "expiresAt": int(self.now()) + 300,
            **changed,
        }
        return sealed(payload, self.place.signing_secret)

    def mistaken_for(self, place: Place) -> Assistant:
        """One that believes to work in another place, and calls the shop of this one."""
        twin = copy(self)
        twin.place = place
        return twin

    def at_pace(self, pace: float) -> Assistant:
        twin = copy(self)
        twin.pace = pace
        return twin


def sealed(payload: Mapping[str, Any], secret: str) -> str:
    """base64url of payload and signature (spec 2.1)."""
    text = json.dumps(payload, separators=(",", ":"))
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    envelope = f'{{"payload":{text},"signature":"{signature}"}}'
    return base64.urlsafe_b64encode(envelope.encode()).rstrip(b"=").decode()


def is_step_up_missing(answer: Answer) -> bool:
    return answer.status == 403 and isinstance(answer.json, dict) and answer.json.get("reason") == "step-up-required"
