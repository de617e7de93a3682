"""Beat's scheduler, which survives clocks that are set back. What it sends when is in beat_schedule."""

from __future__ import annotations

import logging
from typing import Any

from celery.beat import PersistentScheduler, ScheduleEntry
from celery.utils.time import maybe_make_aware

PAUSE_SECONDS = 5.0
log = logging.getLogger("affidavit.beat")


class Scheduler(PersistentScheduler):
    """Celery's scheduler, made to go on when a clock that was ahead is set back.

    An entry is due some time after its last run. If that run is in the future, Celery would wait until then, perhaps
    for years. Here the time of such a run is replaced by the present time, within beat_max_loop_interval after the
    clock was set back.
    """

    def tick(self) -> float:  # type: ignore[override]  # Celery's has parameters, whose defaults are globals
        """Send what is due; return the seconds until the next call."""
        future_entries = [entry for entry in self.schedule.values() if is_future(entry)]
        for entry in future_entries:
            entry.last_run_at = entry.default_now()
        if future_entries:
            self._heap = None  # the heap is built again, from the new times of the last runs
        try:
            self.producer  # noqa: B018  # connects, and waits for a broker that is away
        except (*self.connection.connection_errors, *self.connection.channel_errors) as error:
            log.error("the broker refuses beat; the next try is in %s s: %s", PAUSE_SECONDS, error)
            return PAUSE_SECONDS
        return float(super().tick())

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send the message of an entry. Celery's own method writes the stack into the text of its log line."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception as error:  # whatever a broker raises: the entry is due again after its interval
            log.exception("%s", error)

    def close(self) -> None:
        """Store the times of the last runs. The connection ends with the process.

        Celery would say goodbye to the broker first, and wait for its answer without a limit. RabbitMQ gives none while
        it has an alarm for memory or disk.
        """
        vars(self).pop("connection", None)
        super().close()


def is_future(entry: ScheduleEntry) -> bool:
    """Return whether the last run is in the future."""
    if entry.last_run_at is None:
        return False
    return bool(maybe_make_aware(entry.last_run_at) > maybe_make_aware(entry.default_now()))
