"""The live traffic of the bookshop goes on even after long pauses, and ends when the hub stays away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from examples.bookshop import live_traffic
from examples.bookshop.assistant import HubAway, KeyRefused
from examples.bookshop.release import DEPLOYMENT_SECONDS

HOURS = 3


class Clock:
    """A clock that moves on only when the program sleeps."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[float], None]], tuple[int, float]]:
    """Return a function that runs the program until it ends, and returns the exit status and the seconds it took.

    Each conversation is one step, in which `act` is called with the seconds since the start.
    """
    clock = Clock()
    start = clock.now
    monkeypatch.setattr(live_traffic, "time", clock)
    monkeypatch.setattr(live_traffic, "open_scene", lambda *assistants: [])

    def run_until_end(act: Callable[[float], None]) -> tuple[int, float]:
        def converse(*_: Any) -> Iterator[float]:
            act(clock.now - start)
            yield from ()

        monkeypatch.setattr(live_traffic.people, "run_conversation", converse)
        assistant: Any = SimpleNamespace(chance=Random(1), with_pace=lambda pace: None)
        status = live_traffic.run_conversations([assistant, assistant], released_at=float("inf"))
        return status, clock.now - start

    return run_until_end


def test_traffic_goes_on_for_hours_although_nothing_is_due_for_minutes(run):
    starts = list[float]()

    def act(seconds: float) -> None:
        starts.append(seconds)
        if seconds > HOURS * 3600:
            raise KeyRefused

    status, seconds = run(act)
    quiet = [start for start in starts if start > live_traffic.LIVELY_SECONDS]
    assert (status, seconds > HOURS * 3600) == (0, True)
    assert HOURS * 3 < len(quiet) < HOURS * 12  # about six conversations an hour
    assert len(starts) - len(quiet) > 100


def test_a_release_is_announced_before_it_takes_effect(monkeypatch):
    clock, announced = Clock(), list[tuple[float, float]]()
    monkeypatch.setattr(live_traffic, "time", clock)
    monkeypatch.setattr(live_traffic, "open_scene", lambda *assistants: [])
    monkeypatch.setattr(live_traffic.people, "run_conversation", lambda *_: iter(()))

    def note(path: str, body: dict[str, Any]) -> None:
        announced.append((clock.now, body["at"]))
        raise KeyRefused

    assistant: Any = SimpleNamespace(chance=Random(1), with_pace=lambda pace: None, ask_hub=note)
    assistant.with_key = lambda key: assistant
    released_at = clock.now + 180
    assert live_traffic.run_conversations([assistant, assistant], released_at=released_at) == 0
    ((now, at),) = announced
    assert at <= now < released_at
    assert at == released_at - DEPLOYMENT_SECONDS


def test_the_program_ends_when_the_hub_stays_away(run):
    def act(seconds: float) -> None:
        if seconds > 100:
            raise HubAway

    status, seconds = run(act)
    assert status == 1
    assert 100 + live_traffic.HUB_PATIENCE <= seconds < 120 + live_traffic.HUB_PATIENCE


def test_the_program_goes_on_if_the_hub_answers_again_in_time(run):
    def act(seconds: float) -> None:
        if 100 < seconds < 140:
            raise HubAway
        if seconds > 400:
            raise KeyRefused

    assert run(act)[0] == 0
