"""Leave out the happenings that fired an alert before (pure).

They are recognised even if late reports have changed their times since (`Happening.is_same_as`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from alerts.rules.happenings import Happening


def leave_out_known(happenings: Iterable[Happening], events: Iterable[tuple[str, datetime]]) -> Iterator[Happening]:
    """Yield the happenings, by time. Leave out those that are the same as an event or an earlier happening.

    events: the subject and the time of each stored event, that is, of each happening that fired before.
    """
    known_times: dict[str, list[datetime]] = {}
    for subject, event_at in events:
        known_times.setdefault(subject, []).append(event_at)
    for happening in sorted(happenings, key=lambda happening: (happening.at, happening.subject)):
        times = known_times.setdefault(happening.subject, [])
        if not any(happening.is_same_as(event_at) for event_at in times):
            times.append(happening.at)
            yield happening
