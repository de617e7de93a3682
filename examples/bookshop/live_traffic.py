"""The pace of live traffic: conversations follow each other quickly at first, and rarely later."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from http.client import HTTPException

from examples.bookshop import people
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, HubAway, KeyRefused
from examples.bookshop.habits import STAGING_SHARE, Habits
from examples.bookshop.release import DEPLOYMENT_SECONDS, RELEASE

WAIT_FACTOR = 1 / 15  # pauses are this share of a real user's, so that a viewer of the pages sees something happen
OPENING_WAIT_FACTOR = 1 / 60  # the same for the first conversations
# At first conversations are frequent, until the drift of the release can be seen. After that they are as rare as on a
# day of the sample's history, so that today's figures are not much larger than those of the days before.
LIVELY_SECONDS = 480  # how long conversations are frequent if there is no release
LIVELY_SECONDS_AFTER_RELEASE = 300
LIVELY_INTERVAL, QUIET_INTERVAL = 2.0, 600.0  # seconds between two conversations
MAX_CONVERSATIONS = 200
HUB_PATIENCE = 60  # seconds without the hub before the program ends


def run_conversations(assistants: Sequence[Assistant], *, released_at: float, shop_key: str = "") -> int:
    """Start conversations until the hub refuses the key or stays away. Return 0 if it refused the key, otherwise 1.

    shop_key: the key with which the shop's deployment announces the release.
    """
    agenda, chance = Agenda(time.time), assistants[0].chance
    start_time = next_at = time.time()
    away_since: float | None = None
    has_release = released_at < float("inf")
    lively_until = released_at + LIVELY_SECONDS_AFTER_RELEASE if has_release else start_time + LIVELY_SECONDS
    for steps in open_scene(*(assistant.with_pace(OPENING_WAIT_FACTOR) for assistant in assistants)):
        agenda.add(steps, due_at=start_time)
    if has_release and start_time <= released_at:
        announced_at = released_at - DEPLOYMENT_SECONDS
        agenda.add(announce_release(assistants[0].with_key(shop_key), announced_at), due_at=announced_at)
    while away_since is None or time.time() - away_since < HUB_PATIENCE:
        if time.time() >= next_at and len(agenda) < MAX_CONVERSATIONS:
            interval = LIVELY_INTERVAL if time.time() < lively_until else QUIET_INTERVAL
            next_at = time.time() + chance.expovariate(1) * interval
            pair = assistants if chance.random() > STAGING_SHARE else assistants[::-1]
            agenda.add(people.run_conversation(*pair, Habits()), due_at=time.time())
        try:
            while agenda.next_at <= time.time():
                agenda.run_next()
                away_since = None
        except KeyRefused:
            return 0
        except (HubAway, OSError, HTTPException):
            away_since = away_since or time.time()
            time.sleep(1.0)
        time.sleep(min(0.25, max(0.02, agenda.next_at - time.time())))
    return 1


def announce_release(deployment: Assistant, begun_at: float) -> people.Steps:
    """Annotate the release of release.py in all environments, as a deployment would when it begins.

    deployment: an assistant that calls the hub with the shop's key, which may use all environments.
    """
    deployment.ask_hub("/api/annotations", {"text": RELEASE, "at": int(begun_at), "allEnvironments": True})
    yield from ()


def open_scene(production: Assistant, staging: Assistant) -> Iterator[people.Steps]:
    """Yield the first conversations and a few mistakes, so that every page has data at once."""
    usual, altering = Habits(), Habits(altered_share=1.0)
    for scenario in (people.buy, people.request_refund, people.change_newsletter):
        yield people.run_conversation(production, staging, usual, scenario)
        yield people.run_conversation(production, staging, altering, scenario)
    yield people.run_conversation(staging, production, usual, people.buy)
    for reason in ("expired", "audience-mismatch", "replayed", "unsupported-version", "args-mismatch"):
        talk = people.Conversation(production, "user-ada", "", usual)
        yield people.make_mistake(talk, staging.site, reason)
