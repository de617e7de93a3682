"""Judge whether the absence of a property, which drift does not report yet, is more than chance (pure)."""

from __future__ import annotations

from catalog.drift.presence.absence_counters import Absence
from wire.significance import chance_of_run

CHANCE = 0.01  # an absence is unusual if it is less probable than this at the usual rate of the property
LEAST = 3  # absences in a row before it can be said that a property is probably gone


def is_unusual(absence: Absence, present: int, objects: int) -> bool:
    """Return whether a property is absent for longer than ever before, and hardly by chance at its earlier rate.

    objects: all objects, including those in which it was absent.
    """
    rate = min(present / max(objects - absence.absent, 1), 1)
    return absence.absent > absence.longest and (1 - rate) ** absence.absent < CHANCE


def is_probably_gone(absence: Absence, present: int, objects: int) -> bool:
    """Return whether an absence is unusual, and it is improbable that a run as long occurs anywhere among all objects.

    objects: all objects, including those in which it was absent.
    """
    before = objects - absence.absent
    if before < 1 or absence.absent < LEAST or not is_unusual(absence, present, objects):
        return False
    present_before = min(present, before)
    return chance_of_run(absence.absent, present_before, objects) < CHANCE


def is_always_present(absence: Absence, present: int, objects: int) -> bool:
    """Return whether a property was in every object after its first fold, up to its absence, if it is absent now."""
    return present - absence.first_seen >= objects - absence.first_objects - absence.absent
