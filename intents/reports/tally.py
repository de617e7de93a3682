"""Verifications summed into the tallies that they add to (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from wire.period import floor_to_quarter

ACCEPTED = "accepted"
LEFT_ASIDE = ""  # a result that a filter leaves out: still a verification, so that a rate keeps its n


@dataclass(frozen=True)
class Verification:
    """What a verifier told of one check, or of `count` alike.

    result: `accepted` or a reason; version: 1, 2 or 0 where not told; operation: a template, or empty.
    """

    result: str
    occurred_at: datetime
    version: int = 0
    operation: str = ""
    tool_call_id: str = ""
    count: int = 1


class Key(NamedTuple):
    """What a tally is a tally of; keys sort, so that two reports at work cannot lock each other out."""

    start: datetime
    result: str
    version: int
    operation: str


class Sum(NamedTuple):
    count: int
    last_at: datetime


def is_rejection(result: str) -> bool:
    return result not in (ACCEPTED, LEFT_ASIDE)


def narrowed(result: str, reason: str) -> str:
    """The result as a filter on the reason sees it; an empty `reason` filters nothing."""
    return result if not reason or result in (ACCEPTED, reason) else LEFT_ASIDE


def summed(verifications: Iterable[Verification]) -> Mapping[Key, Sum]:
    """Counts and latest times by tally, in the order of the keys."""
    sums: dict[Key, Sum] = {}
    for each in verifications:
        key = Key(floor_to_quarter(each.occurred_at), each.result, each.version, each.operation)
        known = sums.get(key, Sum(0, each.occurred_at))
        sums[key] = Sum(known.count + each.count, max(known.last_at, each.occurred_at))
    return dict(sorted(sums.items()))
