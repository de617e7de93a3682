"""The sample's broken joins are diagnosed correctly, compared with what really happened to each conversation id."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from django.utils import timezone

from examples.bookshop import people
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, list_sites
from examples.bookshop.habits import Habits
from examples.bookshop.id_mistakes import REGISTRATION_DELAY, choose_ids
from hub.sample.history import HistoryHub, SetClock, build_stack
from hub.sample.keys import find_keys, replace_keys
from outcomes.broken_joins.causes.groups import BrokenJoin
from outcomes.broken_joins.diagnosed_joins import diagnose_joins
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Outcome
from workspaces.create import NewWorkspace
from workspaces.models import Environment

pytestmark = pytest.mark.django_db

CONVERSATIONS, APART, MINUTE = 200, 30.0, 60.0
LONGEST = REGISTRATION_DELAY[1] + 3600.0  # the most seconds from the last start to the last registration


@pytest.fixture
def truth(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what the sample really did with each id, by the id that reached the shop."""
    fates: dict[str, str] = {}
    register = Assistant.register

    def note_registration(self: Assistant, conversation_id: str) -> Any:
        if self.site.environment == "staging":
            fates[conversation_id] = "other-environment"
        return register(self, conversation_id)

    def note_ids(*arguments: Any) -> tuple[str, str, bool]:
        registered_id, reported_id, late = choose_ids(*arguments)
        if not registered_id:
            fates[reported_id] = "never-seen"
        elif reported_id != registered_id:
            fates[reported_id] = "altered" if registered_id in reported_id.lower() else "placeholder"
        else:
            fates[reported_id] = "late" if late else "known"
        return registered_id, reported_id, late

    monkeypatch.setattr(Assistant, "register", note_registration)
    monkeypatch.setattr(people, "choose_ids", note_ids)
    return fates


def play(created: NewWorkspace) -> Environment:
    """Play conversations of production until the last one has ended. Each gets one of `id_mistakes.DIAGNOSES`."""
    keys = replace_keys(created.workspace, actor="test", now=timezone.now())
    start = timezone.now().timestamp() - CONVERSATIONS * APART - LONGEST
    clock, chance = SetClock(start), Random(7)
    hub = HistoryHub(find_keys({**created.as_json(), **keys}), clock, created.signing_secret)
    production, staging = (build_stack(site, hub, chance) for site in list_sites(created.as_json())[:2])
    agenda, habits = Agenda(clock), Habits(altered_share=1.0, mistake_share=0.0)
    for number in range(CONVERSATIONS):
        course = people.run_conversation(production.assistant, staging.assistant, habits, people.buy)
        agenda.add(course, due_at=start + number * APART)
    for end in minutes(start):
        while agenda.next_at < end:
            clock.time = max(clock.time, agenda.next_at)
            agenda.run_next()
        hub.register_arrivals()
        production.send_outcomes()
    assert not len(agenda)
    return created.workspace.environments.get(name="production")


def minutes(start: float) -> Iterator[float]:
    return (start + number * MINUTE for number in range(1, int((CONVERSATIONS * APART + LONGEST) / MINUTE)))


def find_joins(environment: Environment) -> dict[str, BrokenJoin]:
    joins = Outcome.objects.filter(environment=environment, broken=True).select_related("conversation").order_by("pk")
    return {join.conversation_id: join for join in diagnose_joins(environment, joins)}


def test_each_broken_join_is_diagnosed_as_what_happened_to_its_id(workspace, truth):
    production = play(workspace)
    joins_by_id = find_joins(production)
    assert {join.diagnosis.kind for join in joins_by_id.values()} == {
        "other-environment", "altered", "placeholder", "never-seen",
    }  # fmt: skip
    assert {id_: join.diagnosis.kind for id_, join in joins_by_id.items()} == {id_: truth[id_] for id_ in joins_by_id}
    reported = set(
        Outcome.objects.filter(environment=production).values_list("conversation__conversation_id", flat=True)
    )
    late = {id_ for id_ in reported if truth[id_] == "late"}
    assert late  # reported before their conversation was registered, and healed by the registration
    assert not late & joins_by_id.keys()
    reporters = dict(production.workspace.api_keys.values_list("pk", "name"))
    broken = Outcome.objects.filter(environment=production, broken=True).select_related("conversation")
    reporters_by_kind = {
        (truth[outcome.conversation.conversation_id] == "other-environment", reporters[outcome.reported_by])
        for outcome in broken
    }
    assert reporters_by_kind == {(True, "order sync job"), (False, "shop backend")}
    assert Outcome.objects.filter(environment=production, healed_at__isnull=False).count() >= len(late)


def test_conversations_of_another_workspace_change_no_diagnosis(workspace, other_workspace, truth):
    production = play(workspace)
    before = find_joins(production)
    foreign_staging = other_workspace.workspace.environments.get(name="staging")
    register_conversations(foreign_staging, [Arrival(id_) for id_ in before], now=timezone.now())
    assert find_joins(production) == before
