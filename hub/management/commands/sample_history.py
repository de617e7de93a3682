"""`manage.py sample_history`: what is missing of the sample workspace's 30 days; `up` calls it."""

import time

from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection

from hub.sample.history import complete_history
from hub.sample.workspace import find_sample
from wire.errors import is_outage

PAUSES = (1, 5, 15)  # seconds before it goes on where the database broke a day off


class Command(BaseCommand):
    help = "Make what is missing of the sample workspace's history."
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
