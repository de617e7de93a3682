"""An hour of drift in the sample: each change of its release is reported correctly and once, and nothing else."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from django.utils import timezone

from catalog.ingest.fold import fold_reports
from catalog.models import Drift
from examples.bookshop import people
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import list_sites
from examples.bookshop.habits import Habits
from hub.sample.history import HistoryHub, SetClock, build_stack
from hub.sample.keys import find_keys
from workspaces.create import NewWorkspace, create_workspace

pytestmark = pytest.mark.django_db

HOUR = 3600.0
BETWEEN_FOLDS = 180.0
BETWEEN_CONVERSATIONS = 20.0
RELEASE = {
    ("GET", "/books", "/total", "quiet", "integer", "", "consumer"): 1,
    ("GET", "/books/{bookId}", "/pages", "quiet", "integer", "perhaps pageCount now", "consumer"): 1,
    ("GET", "/books/{bookId}", "/pageCount", "new", "", "integer", ""): 1,
    ("GET", "/orders/{orderId}", "/placedAt", "type", "integer", "integer or string", "consumer"): 1,
    ("GET", "/cart", "/giftWrap", "new", "", "boolean", ""): 1,
}


def play(created: NewWorkspace, *, hours: int, released_at: float) -> Counter[tuple[str, ...]]:
    """Play some hours of the sample, folding every few minutes. Return the drift, each change with its count."""
    start = timezone.now().timestamp() - hours * HOUR
    clock, chance = SetClock(start), Random(0)
    hub = HistoryHub(find_keys(created.as_json()), clock, created.signing_secret)
    sites = list_sites(created.as_json())[:2]
    stacks = [build_stack(site, hub, chance, released_at=start + released_at) for site in sites]
    agenda, habits = Agenda(clock), Habits(altered_share=0.0)
    for number in range(int(hours * HOUR / BETWEEN_CONVERSATIONS)):
        pair = [stack.assistant for stack in stacks]
        agenda.add(people.run_conversation(*pair, habits), due_at=start + number * BETWEEN_CONVERSATIONS)
    for number in range(int(hours * HOUR / BETWEEN_FOLDS)):
        while agenda.next_at < start + (number + 1) * BETWEEN_FOLDS:
            clock.time = max(clock.time, agenda.next_at)
            agenda.run_next()
        hub.register_arrivals()
        for stack in stacks:
            stack.shapes.send()
            stack.verifications.send()
        for environment in created.workspace.environments.all():
            fold_reports(environment, now=hub.now)
    changes = Drift.objects.filter(environment__workspace=created.workspace).select_related("operation")
    return Counter(
        (change.operation.method, change.operation.path, change.pointer, change.kind, change.before,
         change.after, change.breaks)
        for change in changes
    )  # fmt: skip


def test_an_hour_after_the_release_each_change_is_reported_once_and_nothing_else():
    without = create_workspace("Without", ["staging"], actor="test", now=timezone.now(), with_full_key=True)
    with_it = create_workspace("With", ["staging"], actor="test", now=timezone.now(), with_full_key=True)
    usual = play(without, hours=2, released_at=float("inf"))
    drift = play(with_it, hours=2, released_at=HOUR)
    assert drift - usual == RELEASE
    assert usual - drift == Counter()
