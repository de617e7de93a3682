"""Move broken joins to the environment that knows their conversations, and undo it exactly.

Undoing gives what would stand if nothing had been moved, whatever was reported, registered, moved or undone since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import connection, transaction

from outcomes.broken_joins import move_sql
from outcomes.broken_joins.lookup import diagnoses, environment_names
from outcomes.broken_joins.move_rows import At, Place, Rewritten, lock_conversations, locked, rewrite
from outcomes.broken_joins.said import Said, together
from outcomes.models import Move, MovedOutcome
from outcomes.tallies.adjust import standing
from wire.period import Period, ceil_to_quarter, floor_to_quarter
from workspaces.audit import record_audit
from workspaces.models import Environment, Workspace

DIAGNOSED_AT_ONCE = 500
WRITTEN_AT_ONCE = 2000


def movable(source: Environment, target: Environment, period: Period) -> Sequence[int]:
    """Row ids of the broken joins, first reported in the range, whose diagnosis names `target`."""
    names = environment_names(source)
    query = {
        "source": source.pk,
        "target": target.pk,
        "start": floor_to_quarter(period.start),
        "end": ceil_to_quarter(period.end),
    }
    with connection.cursor() as cursor:
        cursor.execute(move_sql.KNOWN_THERE, query)
        rows = iter(cursor.fetchall())
    found: list[int] = []
    while batch := list(islice(rows, DIAGNOSED_AT_ONCE)):
        verdicts = diagnoses(source, names, {reported for _, reported in batch})
        for pk, reported in batch:
            verdict = verdicts[reported]
            if verdict.kind == "other-environment" and verdict.found and verdict.found.environment == target.name:
                found.append(pk)
    return found


@transaction.atomic
def move(source: Environment, target: Environment, period: Period, *, actor: str, now: datetime) -> Move | None:
    """Move all that is `movable`, log it, and return it; None where nothing was (any more)."""
    one_at_a_time(source, target)
    taken = take(source, target, movable(source, target, period))
    if not taken:
        return None
    places = locked(target, [each.goes_to for each in taken], now=now, make_room=True)
    rewritten = [arrived(place, [each.said for each in of_place]) for place, of_place in paired(places, taken)]
    met = sum(place.said.reports > 0 for place in places)
    made = Move.objects.create(source=source, target=target, moved_at=now, moved_by=actor, outcomes=len(taken), met=met)
    rewrite(source, (), [change for each in taken for change in standing(each.key, each.said, None, sign=-1)])
    rewrite(target, rewritten)
    MovedOutcome.objects.bulk_create([each.kept(made) for each in taken], batch_size=WRITTEN_AT_ONCE)
    log(made, "broken joins moved", actor=actor, now=now)
    return made


@transaction.atomic
def undo(made: Move, *, actor: str, now: datetime) -> bool:
    """Put back what a move took, and log it; False where it was undone before."""
    one_at_a_time(made.source, made.target)
    made.refresh_from_db()
    if made.undone_at:
        return False
    moved = list(made.moved.all())
    lock_conversations([each.came_from_id for each in moved])
    put_back(made, moved, now=now)
    take_out(made, moved, now=now)
    made.undone_at, made.undone_by = now, actor
    made.save(update_fields=["undone_at", "undone_by"])
    log(made, "move of broken joins undone", actor=actor, now=now)
    return True


@dataclass(frozen=True)
class Taken:
    """A broken join on its way: from a conversation's row to another's."""

    came_from: int
    conversation: int
    key: str
    said: Said

    @property
    def goes_to(self) -> At:
        return self.conversation, self.key

    def kept(self, made: Move) -> MovedOutcome:
        return MovedOutcome(
            move=made, came_from_id=self.came_from, conversation_id=self.conversation, outcome_key=self.key,
            reports=self.said.reports, first_reported_at=self.said.first, last_reported_at=self.said.last,
            reported_by=self.said.reported_by,
        )  # fmt: skip


def take(source: Environment, target: Environment, outcomes: Sequence[int]) -> Sequence[Taken]:
    """Delete these broken joins, those that still are, and tell what they were."""
    query = {"outcomes": list(outcomes), "target": target.pk}
    with connection.cursor() as cursor:
        cursor.execute(move_sql.CONVERSATIONS_OF, query)
        lock_conversations([conversation for (conversation,) in cursor.fetchall()])
        cursor.execute(move_sql.TAKE, query)
        rows = cursor.fetchall()
        cursor.execute(move_sql.DELETE, {"ids": [row[0] for row in rows]})
    return [Taken(came_from, known, key, Said(*said)) for _, came_from, known, _, key, *said in rows]


def paired(places: Sequence[Place], taken: Sequence[Taken]) -> Sequence[tuple[Place, Sequence[Taken]]]:
    by_place: dict[At, list[Taken]] = defaultdict(list)
    for each in taken:
        by_place[each.goes_to].append(each)
    return [(place, by_place[place.at]) for place in places]


def arrived(place: Place, moved: Sequence[Said]) -> Rewritten:
    """A place with accounts that come in; of what came in before, only the sum and its ends matter."""
    return Rewritten(place, place.own, [*before(place), *moved], place.healed_at)


def before(place: Place) -> Sequence[Said]:
    """What was moved in before, as one account that has the ends and the first API key of the whole."""
    if not place.moved_in:
        return ()
    return [Said(place.moved_in, place.said.first, place.said.last, place.said.reported_by)]


def put_back(made: Move, moved: Sequence[MovedOutcome], *, now: datetime) -> None:
    """Into the source: beside what was reported there since, healed where the conversation has arrived since."""
    accounts = {(each.came_from_id, each.outcome_key): account(each) for each in moved}
    places = locked(made.source, list(accounts), now=now, make_room=True)
    rewrite(made.source, [returned(place, accounts[place.at]) for place in places])


def returned(place: Place, said: Said) -> Rewritten:
    own = together([place.own, said]) if place.own else said
    return Rewritten(place, own, before(place), place.registered_at)


def take_out(made: Move, moved: Sequence[MovedOutcome], *, now: datetime) -> None:
    """Out of the target: what was reported there itself stays, and what other moves brought."""
    places = locked(made.target, [(each.conversation_id, each.outcome_key) for each in moved], now=now)
    others = brought_by_others(made, places)
    rewrite(
        made.target,
        [Rewritten(place, place.own, others.get(place.at, ()), place.healed_at) for place in places],
    )


def brought_by_others(made: Move, places: Sequence[Place]) -> Mapping[At, Sequence[Said]]:
    conversations = [place.at[0] for place in places]
    found: dict[At, list[Said]] = defaultdict(list)
    others = MovedOutcome.objects.filter(conversation__in=conversations, move__undone_at=None).exclude(move=made)
    for each in others:
        found[each.conversation_id, each.outcome_key].append(account(each))
    return found


def account(each: MovedOutcome) -> Said:
    return Said(each.reports, each.first_reported_at, each.last_reported_at, each.reported_by)


def one_at_a_time(source: Environment, target: Environment) -> None:
    """Two moves of one workspace could want each other's tallies."""
    source.hold()
    target.hold()
    Workspace.objects.select_for_update(no_key=True).get(pk=source.workspace_id)


def log(made: Move, action: str, *, actor: str, now: datetime) -> None:
    facts = {"move": made.pk, "from": made.source.name, "to": made.target.name, "outcomes": made.outcomes}
    record_audit(made.source.workspace_id, action, facts, actor=actor, now=now)
