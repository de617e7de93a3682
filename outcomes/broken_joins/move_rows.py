"""Outcomes that moves change: read and locked, put together anew, written back with their tallies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from outcomes.broken_joins import move_sql
from outcomes.broken_joins.said import Said, together
from outcomes.tallies.adjust import Change, retally, standing
from workspaces.models import Environment

At = tuple[int, str]  # a conversation's row id and an outcome key: where one outcome stands


@dataclass(frozen=True)
class Place:
    """One outcome, or room for one where nothing was reported so far (`reports` is 0).

    own: what was reported in this environment itself; moved_in: the reports that came from elsewhere.
    """

    pk: int
    at: At
    started_at: datetime | None
    registered_at: datetime | None
    said: Said
    own: Said | None
    moved_in: int
    healed_at: datetime | None

    @classmethod
    def of_row(cls, row: Sequence) -> Place:
        pk, conversation, key, started_at, registered_at, reports, first, last, by, moved_in, *own, healed_at = row
        said = Said(reports, first, last, by)
        own_first, own_last, own_by = own
        if not moved_in:
            of_its_own = said if reports else None
        else:
            of_its_own = own_first and Said(reports - moved_in, own_first, own_last, own_by)
        return cls(pk, (conversation, key), started_at, registered_at, said, of_its_own, moved_in, healed_at)


@dataclass(frozen=True)
class Rewritten:
    """What a place is to hold: its own account and those moved in; nothing at all, and it goes."""

    place: Place
    own: Said | None
    moved: Sequence[Said]
    healed_at: datetime | None

    @property
    def parts(self) -> Sequence[Said]:
        return [*([self.own] if self.own else []), *self.moved]

    def row(self) -> tuple:
        said, own = together(self.parts), self.own if self.moved else None
        own_columns = (own.first, own.last, own.reported_by) if own else (None, None, None)
        moved_in = sum(part.reports for part in self.moved)
        columns = (self.place.pk, said.reports, said.first, said.last, said.reported_by, moved_in)
        return (*columns, *own_columns, self.healed_at)

    def changes(self) -> Sequence[Change]:
        place, key = self.place, self.place.at[1]
        gone = standing(key, place.said, place.started_at, sign=-1) if place.said.reports else ()
        come = standing(key, together(self.parts), place.started_at, sign=1) if self.parts else ()
        return [*gone, *come]


def locked(environment: Environment, places: Sequence[At], *, now: datetime, make_room: bool = False) -> list[Place]:
    """These places, locked; with `make_room`, where there is no outcome, an empty one."""
    query = {
        "environment": environment.pk,
        "conversations": [conversation for conversation, _ in places],
        "keys": [key for _, key in places],
        "now": now,
    }
    with connection.cursor() as cursor:
        if make_room:
            cursor.execute(move_sql.MAKE_ROOM, query)
        cursor.execute(move_sql.LOCK_OUTCOMES, query)
        return [Place.of_row(row) for row in cursor.fetchall()]


def lock_conversations(conversations: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(move_sql.LOCK_CONVERSATIONS, {"conversations": list(conversations)})


def rewrite(environment: Environment, rewritten: Sequence[Rewritten], gone: Sequence[Change] = ()) -> None:
    """Write all of them, then the tallies. gone: what left this environment besides."""
    names = (
        "ids", "reports", "first", "last", "reported_by", "moved_in", "own_first", "own_last", "own_reported_by",
        "healed_at",
    )  # fmt: skip
    rows = [each.row() for each in rewritten if each.parts]
    columns = map(list, zip(*rows, strict=True)) if rows else [[] for _ in names]
    with connection.cursor() as cursor:
        cursor.execute(move_sql.REWRITE, dict(zip(names, columns, strict=True)))
        cursor.execute(move_sql.DELETE, {"ids": [each.place.pk for each in rewritten if not each.parts]})
    changes = [*gone, *(change for each in rewritten for change in each.changes())]
    if changes:
        retally(environment, changes)
