"""`manage.py sample_history`: complete the 30 days of the sample workspace; `up` calls it."""

import os
import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection

from hub.sample.history import complete_history
from hub.sample.workspace import find_sample, list_live_arguments
from wire.postgresql.database_outage import is_outage

PAUSES = (1, 5, 15)  # seconds before it retries a day that the database aborted


class Command(BaseCommand):
    help = "Complete the history of the sample workspace."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        help_text = "afterwards send its live traffic to this hub, with the keys from standard input"
        parser.add_argument("--then-live-on", metavar="URL", help=help_text)

    def handle(self, *args: Any, **options: Any) -> None:
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
        if options["then_live_on"] and sample:
            connection.close()
            arguments = list_live_arguments(sample[1], options["then_live_on"])
            os.execv(sys.executable, [sys.executable, *arguments])
