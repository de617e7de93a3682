"""In what the catalogs of two environments differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog import queries
from catalog.drift.compare import Change, compare_outlines
from catalog.drift_kinds import BOTH
from workspaces.models import Environment

OPERATION = "operation"


@dataclass(frozen=True)
class Difference:
    """One change of one operation. Of one that only one side has, the whole operation is new or gone."""

    method: str
    path: str
    change: Change


def between(here: Environment, there: Environment) -> Iterator[Difference]:
    """What `there` has other than `here`, by path and method; reads the shapes of what differs only."""
    ours, theirs = queries.outline_digests(here), queries.outline_digests(there)
    differing = {key for key in ours.keys() & theirs.keys() if ours[key][1] != theirs[key][1]}
    before, after = queries.outlines_of(here, differing), queries.outlines_of(there, differing)
    for key in sorted(ours.keys() | theirs.keys(), key=lambda key: (key[1], key[0])):
        method, path = key[0], (ours.get(key) or theirs[key])[0]
        if key not in theirs:
            yield Difference(method, path, Change(OPERATION, "", "gone", breaks=BOTH))
        elif key not in ours:
            yield Difference(method, path, Change(OPERATION, "", "new"))
        elif key in differing:
            yield from (Difference(method, path, change) for change in compare_outlines(before[key], after[key]))
