"""`manage.py sample_history`: complete the 30 days of the sample workspace; `up` calls it."""

import time

from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection

from hub.sample.history import complete_history
from hub.sample.workspace import find_sample
from wire.errors import is_outage

PAUSES = (1, 5, 15)  # seconds before it retries a day that the database aborted


class Command(BaseCommand):
    help = "Complete the history of the sample workspace."
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        pauses = iter(PAUSES)
        while sample := find_sample():
            try:
                complete_history(*sample)
                break
            except DatabaseError as error:
                pause = next(pauses, None) if is_outage(error) else None
                if pause is None:
                    raise
                connection.close()
                time.sleep(pause)
