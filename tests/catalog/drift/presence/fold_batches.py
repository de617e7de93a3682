"""Fold batches of bodies of one operation, and return the changes of presence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from affidavit import Evidence, infer
from catalog.drift.presence.absence_counters import AbsenceEvent, update_absences


def fold_batches(batches: Iterable[list[Any]], *, days: bool = False) -> list[tuple[int, AbsenceEvent]]:
    """Return the events, each with the number of the batch that caused it.

    days: batches are a day apart.
    """
    total, absences, numbered_events = Evidence(), {}, []
    for number, batch in enumerate(batches):
        added = Evidence()
        for value in batch:
            added.add(infer(value, day=number if days else None))
        total.add(added)
        new_absences, events = update_absences(absences, total, added)
        absences = json.loads(json.dumps(new_absences))
        numbered_events += [(number, event) for event in events]
    return numbered_events
