"""30 days of the sample workspace, made by the code of the example with a clock that is set.

The hub's own endpoints take every report in, in this process; only the gate answers out of memory, because a
confirmation takes a dozen statements and the history has thousands. What it decided is stored day by day.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.urls import resolve

import affidavit
from examples.bookshop import people
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, Place, places_of
from examples.bookshop.calls import Answer, in_process
from examples.bookshop.reporting import Reporters
from examples.bookshop.shop import Bookshop, Settings
from hub.sample.reporters import Outcomes, Shapes, Verifications
from intents.gate.confirmations import DECISIONS, LIFETIME
from intents.gate.policy import needs_confirmation
from intents.models import Confirmation, MintedIntent
from workspaces.models import ApiKey, AuditEntry, Environment

DAYS = 30
DAY = 86_400
A_DAY = 120  # conversations, on an average weekday in the middle of the time
GROWTH = 1.6  # from the first day to the last
STAGING = 0.12  # share of the conversations in the second environment
OF_WEEKDAYS = (1.0, 1.06, 1.1, 1.04, 0.94, 0.72, 0.66)  # from Monday on
OF_HOURS = (
    0.3, 0.2, 0.1, 0.1, 0.1, 0.2, 0.5, 0.9, 1.2, 1.3, 1.3, 1.4,
    1.6, 1.4, 1.2, 1.2, 1.3, 1.5, 1.7, 1.9, 1.9, 1.6, 1.0, 0.6,
)  # fmt: skip
LEGACY = (0.34, 0.04)  # share of reads that are signed as version 1, on the first day and on the last
TROUBLE = (22, 25)  # days with a release that mixed the environments up
TICK = 3600  # seconds between two deliveries of what happened
STOPS_BEFORE = 900  # seconds before the end in which no conversation begins
ENDED = (Confirmation.USED, Confirmation.DECLINED, Confirmation.EXPIRED)


@dataclass
class SetClock:
    at: float

    def __call__(self) -> float:
        return self.at


class HistoryHub:
    """The hub as the example calls it, at a time that is set. Conversations wait for `settle`, the gate for `store`."""

    def __init__(self, key: ApiKey, clock: SetClock, signing_secret: str) -> None:
        self.clock = clock
        self._request = SimpleNamespace(auth=key)
        self._secret = signing_secret
        self._environments = {each.name: each for each in key.workspace.environments.all()}
        self._arrivals: dict[str, list[Any]] = {name: [] for name in self._environments}
        self._confirmations: dict[str, Confirmation] = {}
        self._minted: list[MintedIntent] = []

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        """A report, taken by the endpoint of this path: the SDK's way to a hub (`affidavit.Transport`)."""
        found = resolve(path)
        view = found.func.view_class(request=self._request)
        return view.process(self._request, body, self.now, found.kwargs).data

    def call(self, method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        """What the assistant asks for."""
        environment = self._environments[body["environment"]]
        if target == "/api/conversations":
            self._arrivals[environment.name] += body["conversations"]
            return Answer(200, None)
        if target == "/api/intents":
            return self._mint(environment, body)
        if target == "/api/confirmations":
            return self._ask(environment, body)
        return self._decide(target.split("/")[-2], body["decision"])

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.at, UTC)

    def settle(self) -> None:
        """Conversations that began, before what is reported of them."""
        for name, arrivals in self._arrivals.items():
            if arrivals:
                document = {"environment": name, "conversations": arrivals}
                self.post_json("/api/conversations", json.dumps(document).encode(), {})
                arrivals.clear()

    def store(self) -> None:
        """What the gate decided and what was minted; what still waits goes on waiting in here."""
        Confirmation.objects.bulk_create(
            self._confirmations.values(), update_conflicts=True, unique_fields=["id"],
            update_fields=["state", "expires_at", "decided_at", "decided_by", "used_at", "tool_call_id"],
        )  # fmt: skip
        MintedIntent.objects.bulk_create(self._minted)
        self._minted.clear()
        for known in [known for known, each in self._confirmations.items() if each.state_at(self.now) in ENDED]:
            del self._confirmations[known]

    def _ask(self, environment: Environment, asked: Mapping[str, Any]) -> Answer:
        confirmation = Confirmation(
            id=uuid4(), environment=environment, sub=asked["sub"], operation=asked["operation"],
            args_hash=affidavit.args_hash(asked["args"]), summary=asked["summary"],
            created_at=self.now, expires_at=self.now + LIFETIME,
        )  # fmt: skip
        self._confirmations[str(confirmation.id)] = confirmation
        return Answer(201, {"confirmationId": str(confirmation.id)})

    def _decide(self, confirmation_id: str, decision: str) -> Answer:
        confirmation = self._confirmations[confirmation_id]
        confirmation.state = DECISIONS[decision]
        confirmation.decided_at, confirmation.expires_at = self.now, self.now + LIFETIME
        confirmation.decided_by = f"key {self._request.auth.prefix}…"
        return Answer(200, None)

    def _mint(self, environment: Environment, asked: Mapping[str, Any]) -> Answer:
        confirmation = self._confirmations.get(asked.get("confirmationId", ""))
        if needs_confirmation(asked["operation"]):
            if confirmation is None or confirmation.state not in (Confirmation.CONFIRMED, Confirmation.USED):
                return Answer(409, None)
            confirmation.state, confirmation.tool_call_id = Confirmation.USED, asked["toolCallId"]
            confirmation.used_at = confirmation.used_at or self.now
        minted = affidavit.mint_intent(
            self._secret, tenant_id=environment.workspace_id, sub=asked["sub"], aud=environment.audience,
            operation=asked["operation"], args=asked["args"], tool_call_id=asked.get("toolCallId"),
            requires_step_up=asked.get("requiresStepUp"), now=self.clock.at,
        )  # fmt: skip
        self._minted.append(row_of(environment, minted.payload, confirmation))
        return Answer(201, {"header": minted.header})


def row_of(environment: Environment, payload: Mapping[str, Any], confirmation: Confirmation | None) -> MintedIntent:
    return MintedIntent(
        environment=environment, tool_call_id=payload["toolCallId"], sub=payload["sub"],
        operation=payload["operation"], args_hash=payload["argsHash"],
        requires_step_up=payload.get("requiresStepUp", False), confirmation=confirmation,
        issued_at=datetime.fromtimestamp(payload["issuedAt"], UTC),
        expires_at=datetime.fromtimestamp(payload["expiresAt"], UTC),
    )  # fmt: skip


@dataclass
class Stack:
    """One environment: the assistant, and the shop that it calls."""

    assistant: Assistant
    reporters: Reporters


def stack_of(place: Place, key: str, hub: HistoryHub, chance: Random, **shop: Any) -> Stack:
    """shop: further settings of it."""
    way = {"api_key": key, "environment": place.environment, "transport": hub}
    reporters = Reporters(Outcomes(**way), Shapes(hub.clock, **way), Verifications(hub.clock, place.environment, hub))
    settings = Settings(place.workspace, place.environment, place.audience, place.signing_secret, **shop)
    shop = Bookshop(settings, reporters, now=hub.clock)
    assistant = Assistant(place, hub.call, in_process(shop), key=key, now=hub.clock, chance=chance)
    return Stack(assistant, reporters)


class History:
    """created: what `create_workspace` gave; until: where the history ends, Unix seconds."""

    def __init__(self, created: Mapping[str, Any], key: ApiKey, until: float) -> None:
        self.start = until - DAYS * DAY
        self._until = until
        self._clock = SetClock(self.start)
        self._agenda = Agenda(self._clock)
        self._chance = Random(0)
        self._hub = HistoryHub(key, self._clock, created["signingSecret"])
        self._stacks = [
            stack_of(place, created["secretKey"], self._hub, self._chance) for place in places_of(created)[:2]
        ]
        self._agenda.add(self._deliveries(), at=self.start)

    def day(self, number: int) -> None:
        """One day of it, stored; 0 is the first."""
        self._chance.seed(f"day {number}")
        start = self.start + number * DAY
        for at in self._arrivals(start):
            self._agenda.add(self._conversation(number), at=at)
        while self._agenda.next_at < start + DAY:
            self._clock.at = max(self._clock.at, self._agenda.next_at)
            self._agenda.go_on()
        self._clock.at = start + DAY
        self._deliver()
        for stack in self._stacks:
            stack.reporters.witness.send()
            stack.reporters.verifications.send()
        self._hub.store()

    def _arrivals(self, start: float) -> Iterator[float]:
        """When conversations begin, by the rhythm of a shop."""
        for quarter in range(96):
            begin = start + quarter * 900
            expected = rhythm(begin, (begin - self.start) / (DAYS * DAY)) / 4
            for _ in range(int(expected) + (self._chance.random() < expected % 1)):
                at = begin + self._chance.uniform(0, 900)
                if at < self._until - STOPS_BEFORE:
                    yield at

    def _conversation(self, day: int) -> people.Course:
        first, second = (stack.assistant for stack in self._stacks)
        pair = (first, second) if self._chance.random() > STAGING else (second, first)
        return people.conversation(*pair, habits_on(day))

    def _deliveries(self) -> people.Course:
        while True:
            self._deliver()
            yield TICK

    def _deliver(self) -> None:
        self._hub.settle()
        for stack in self._stacks:
            stack.reporters.outcomes.send()


def rhythm(at: float, passed: float) -> float:
    """Conversations expected in an hour. passed: share of the whole time."""
    moment = datetime.fromtimestamp(at, UTC)
    level = A_DAY * (1 + (GROWTH - 1) * passed) / ((1 + GROWTH) / 2)
    return level * OF_WEEKDAYS[moment.weekday()] * OF_HOURS[moment.hour] / sum(OF_HOURS)


def habits_on(day: int) -> people.Habits:
    passed = day / (DAYS - 1)
    legacy = LEGACY[0] * (1 - passed) ** 1.5 + LEGACY[1]
    mangled = 0.11 if TROUBLE[0] <= day <= TROUBLE[1] else 0.045
    return people.Habits(legacy, mangled, mistaken=0.06)


def make(created: Mapping[str, Any], entry: AuditEntry) -> None:
    """What is missing of the history; each day whole or not at all. entry: says how far it is, and where it ends."""
    # Every report asks for the environments; they are fetched once.
    keys = ApiKey.objects.select_related("workspace").prefetch_related("workspace__environments")
    key = keys.filter(workspace=entry.workspace, kind=ApiKey.SECRET).earliest("id")
    history = History(created, key, entry.at.timestamp())
    for number in range(entry.facts.get("days", 0), DAYS):
        with transaction.atomic():
            # All at once, so that a removal waits for the end of the day, and this for the end of a removal. On the
            # first day other writers wait too: its keys are new to them as well, and met in another order.
            if not list(entry.workspace.environments.order_by("id").select_for_update(no_key=number > 0)):
                return
            history.day(number)
            entry.facts["days"] = number + 1
            entry.save(update_fields=["facts"])
