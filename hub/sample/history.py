"""30 days of the sample workspace, simulated by the code of the example with a clock that is set by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from django.db import transaction

from catalog.ingest.fold import fold_reports
from examples.bookshop import people
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, Site, list_sites
from examples.bookshop.calls import Answer, in_process
from examples.bookshop.habits import STAGING_SHARE, Habits
from examples.bookshop.reporting import Reporters
from examples.bookshop.shop import Bookshop, Settings
from hub.sample.confirmations import SampleGate
from hub.sample.history_days import HISTORY_DAYS
from hub.sample.keys import SampleKeys, find_keys
from hub.sample.reporters import SampleOutcomes, SampleShapes, SampleVerifications, now_of
from outcomes.ingest.register import Arrival, register_conversations
from workspaces.annotations.annotate import AnnotationText, add_annotation
from workspaces.keys.last_use import note_use
from workspaces.models import Environment, SampleWorkspace

DAY_SECONDS = 86_400
QUARTERS_PER_DAY = 96
CONVERSATIONS_PER_DAY = 120  # conversations on an average day, halfway through the history
GROWTH = 1.6  # the traffic of the last day, as a multiple of that of the first
WEEKDAY_FACTORS = (1.0, 1.06, 1.1, 1.04, 0.94, 0.72, 0.66)  # from Monday on
HOUR_FACTORS = (
    0.3, 0.2, 0.1, 0.1, 0.1, 0.2, 0.5, 0.9, 1.2, 1.3, 1.3, 1.4,
    1.6, 1.4, 1.2, 1.2, 1.3, 1.5, 1.7, 1.9, 1.9, 1.6, 1.0, 0.6,
)  # fmt: skip
LEGACY_SHARES = (0.34, 0.04)  # of reads that are signed as version 1: one share falls to 0, the other stays
TROUBLED_DAYS = range(22, 26)  # after a release that mixed the environments up
RELEASES = {TROUBLED_DAYS.start: "Release 4.2", TROUBLED_DAYS.stop: "Release 4.2.1"}  # 4.2.1 ends the trouble
DELIVERY_SECONDS = 3600  # between two deliveries of reports
QUIET_SECONDS = 900  # no conversation begins in this time before the end


@dataclass
class SetClock:
    time: float

    def __call__(self) -> float:
        return self.time


class HistoryHub:
    """The hub as the assistant calls it. Conversations are registered by `register_arrivals`, all at once."""

    def __init__(self, keys: SampleKeys, clock: SetClock, signing_secret: str) -> None:
        self.keys = keys
        self.clock = clock
        self.gate = SampleGate(clock, signing_secret, decided_by=f"key {keys.platform.prefix}…")
        workspace = keys.platform.workspace
        self.environments = {environment.name: environment for environment in workspace.environments.all()}
        self._arrivals: dict[str, list[Arrival]] = {name: [] for name in self.environments}

    @property
    def now(self) -> datetime:
        return now_of(self.clock)

    def call(self, method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        """Answer a request of the assistant (`examples.bookshop.calls.Call`)."""
        environment = self.environments[body["environment"]]
        if target == "/api/conversations":
            return self._note_arrivals(environment, body["conversations"])
        if target == "/api/intents":
            return self.gate.mint(environment, body)
        if target == "/api/confirmations":
            return self.gate.ask(environment, body)
        return self.gate.decide(target.split("/")[-2], body["decision"])

    def register_arrivals(self) -> None:
        """Register the conversations that began; call it before their outcomes are sent."""
        for name, arrivals in self._arrivals.items():
            if arrivals:
                register_conversations(self.environments[name], arrivals, now=self.now)
                self._arrivals[name] = []

    def _note_arrivals(self, environment: Environment, conversations: list[dict[str, Any]]) -> Answer:
        self._arrivals[environment.name] += [
            Arrival(item["conversationId"], datetime.fromtimestamp(item["startedAt"], UTC)) for item in conversations
        ]
        return Answer(200, None)


@dataclass
class Stack:
    """One environment: the assistant, and the reporters of the shop that it calls."""

    assistant: Assistant
    outcomes: SampleOutcomes
    order_sync: SampleOutcomes
    shapes: SampleShapes
    verifications: SampleVerifications

    def send_outcomes(self) -> None:
        self.outcomes.send()
        self.order_sync.send()


def build_stack(site: Site, hub: HistoryHub, chance: Random, **further_settings: Any) -> Stack:
    """Build the programs of one environment.

    further_settings: more settings of the shop.
    """
    environment = hub.environments[site.environment]
    outcomes = SampleOutcomes(environment, hub.keys.shop, hub.clock)
    order_sync = SampleOutcomes(environment, hub.keys.order_sync, hub.clock)
    shapes = SampleShapes(environment, hub.clock)
    verifications = SampleVerifications(environment, hub.keys.shop, hub.clock)
    settings = Settings(site.workspace, site.environment, site.audience, site.signing_secret, **further_settings)
    shop = Bookshop(settings, Reporters(outcomes, shapes, verifications), now=hub.clock)
    assistant = Assistant(
        site,
        hub.call,
        in_process(shop),
        key=str(hub.keys.platform),
        order_sync=order_sync,
        now=hub.clock,
        chance=chance,
    )
    return Stack(assistant, outcomes, order_sync, shapes, verifications)


class History:
    """The days to simulate.

    workspace_facts: the output of `create_workspace`.
    end: when the last day ends, in Unix seconds.
    """

    def __init__(self, workspace_facts: Mapping[str, Any], end: float) -> None:
        self._start = end - HISTORY_DAYS * DAY_SECONDS
        self._end = end
        self._clock = SetClock(self._start)
        self._agenda = Agenda(self._clock)
        self._chance = Random(0)
        self._hub = HistoryHub(find_keys(workspace_facts), self._clock, workspace_facts["signingSecret"])
        self._stacks = [build_stack(site, self._hub, self._chance) for site in list_sites(workspace_facts)[:2]]
        self._agenda.add(self._deliver_regularly(), due_at=self._start)

    def play_day(self, number: int) -> None:
        """Play one day and store it; 0 is the first."""
        self._chance.seed(f"day {number}")
        start = self._start + number * DAY_SECONDS
        if number in RELEASES:
            self._annotate(RELEASES[number], datetime.fromtimestamp(start, UTC))
        for time in self._draw_arrivals(start):
            self._agenda.add(self._start_conversation(number), due_at=time)
        while self._agenda.next_at < start + DAY_SECONDS:
            self._clock.time = max(self._clock.time, self._agenda.next_at)
            self._agenda.run_next()
        self._clock.time = start + DAY_SECONDS
        self._deliver()
        for stack in self._stacks:
            stack.shapes.send()
            stack.verifications.send()
        self._hub.gate.store()
        self._note_uses()
        for environment in self._hub.environments.values():
            # Fold by the clock of that day, so that drift is dated right. The fold locks the catalog, so it comes last.
            fold_reports(environment, now=self._hub.now)

    def _note_uses(self) -> None:
        """Store when the keys were last used: at the end of the day."""
        for key in self._hub.keys:
            note_use(key, now=self._hub.now)

    def _annotate(self, text: str, at: datetime) -> None:
        production = self._hub.environments["production"]
        actor = f"key {self._hub.keys.shop.prefix}…"
        add_annotation(production, AnnotationText(text), at=at, everywhere=False, actor=actor, now=at)

    def _draw_arrivals(self, start: float) -> Iterator[float]:
        """Yield the times at which conversations begin, by weekday and hour as in a shop."""
        for quarter in range(QUARTERS_PER_DAY):
            quarter_start = start + quarter * 900
            expected_count = (
                expect_conversations(quarter_start, (quarter_start - self._start) / (HISTORY_DAYS * DAY_SECONDS)) / 4
            )
            for _ in range(int(expected_count) + (self._chance.random() < expected_count % 1)):
                time = quarter_start + self._chance.uniform(0, 900)
                if time < self._end - QUIET_SECONDS:
                    yield time

    def _start_conversation(self, day: int) -> people.Steps:
        production, staging = (stack.assistant for stack in self._stacks)
        pair = (production, staging) if self._chance.random() > STAGING_SHARE else (staging, production)
        return people.run_conversation(*pair, choose_habits(day))

    def _deliver_regularly(self) -> people.Steps:
        while True:
            self._deliver()
            yield DELIVERY_SECONDS

    def _deliver(self) -> None:
        self._hub.register_arrivals()
        for stack in self._stacks:
            stack.send_outcomes()


def expect_conversations(time: float, progress: float) -> float:
    """Return the expected number of conversations in an hour.

    progress: share of the history that has passed.
    """
    moment = datetime.fromtimestamp(time, UTC)
    level = CONVERSATIONS_PER_DAY * (1 + (GROWTH - 1) * progress) / ((1 + GROWTH) / 2)
    return level * WEEKDAY_FACTORS[moment.weekday()] * HOUR_FACTORS[moment.hour] / sum(HOUR_FACTORS)


def choose_habits(day: int) -> Habits:
    progress = day / (HISTORY_DAYS - 1)
    legacy_share = LEGACY_SHARES[0] * (1 - progress) ** 1.5 + LEGACY_SHARES[1]
    return Habits(legacy_share, altered_share=0.11 if day in TROUBLED_DAYS else 0.045, mistake_share=0.06)


def complete_history(workspace_facts: Mapping[str, Any], sample: SampleWorkspace) -> None:
    """Play and store the days that are missing, each whole or not at all. The history ends when the sample was made."""
    history = History(workspace_facts, sample.made_at.timestamp())
    for number in range(sample.days, HISTORY_DAYS):
        with transaction.atomic():
            # Lock all environments: a removal waits until the day is stored, and a day until a removal has ended.
            # On the first day other writers wait too: they would insert rows with the same new keys as this day, but in
            # another order, so that each would wait for the other (deadlock).
            if not list(sample.workspace.environments.order_by("id").select_for_update(no_key=number > 0)):
                return
            history.play_day(number)
            sample.days = number + 1
            sample.save(update_fields=["days"])
