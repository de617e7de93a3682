"""`manage.py migrate`: Django's command, after the checks that each start makes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from django.core.checks import Tags
from django.core.management.commands.migrate import Command as Migrate
from django.utils import timezone

from hub.local.database.first_schema import load_first_schema
from hub.local.database.migration_locks import lock_migrations, lock_schema
from hub.local.database.partitions import create_partitions
from hub.local.database.prepare import check_fitness
from hub.local.database.run_migrations import count_pending_migrations


class Command(Migrate):
    requires_system_checks = [Tags.database]  # the others would load every page

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate. Refuse a database of a newer version, and an empty one while the embedded one has data.

        Wait for starts and commands that migrate, and for backups, as these wait for each other.
        """
        check_fitness()
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        is_whole = not (options["app_label"] or options["fake"])
        with lock_migrations():
            if is_whole:
                load_first_schema()
            with nullcontext() if is_whole and not count_pending_migrations() else lock_schema():
                super().handle(*args, **options)
            if is_whole:
                create_partitions(now=timezone.now())
