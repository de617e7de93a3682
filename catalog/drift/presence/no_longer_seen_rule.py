"""The rule by which an absent property counts as no longer seen (pure).

An absence is counted in objects that could have had the property, not in time, so that a busy hour and a quiet night
count alike. A property that has always come in bursts has to be absent for more than three times as long
as ever before.
"""

from __future__ import annotations

EXPECTED = 20  # an absence counts if the property would have been seen this often at its usual rate
LONGER = 3  # how many times longer an absence has to be than the longest so far


def is_no_longer_seen(absent: int, longest: int, present: int, objects: int) -> bool:
    """Return whether a property counts as no longer seen.

    objects: all objects, including those in which it was absent.
    """
    return absent > LONGER * longest and _was_expected(EXPECTED, absent, present, objects)


def _was_expected(times: int, absent: int, present: int, objects: int) -> bool:
    """Return whether at its usual rate the property would be in at least `times` of the `absent` objects."""
    return absent * present >= times * max(objects - absent, 1)
