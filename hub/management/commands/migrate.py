"""`manage.py migrate`: Django's command, after the checks that each start makes."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.checks import Tags
from django.core.management.commands.migrate import Command as Migrate

from hub.local.database.migration_locks import lock_migrations, lock_schema
from hub.local.database.prepare import check_fitness
from hub.local.database.run_migrations import surround_migrations
from hub.local.database.short_lock_waits import retry_while_locked


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
        apply_migrations = partial(super().handle, *args, **options)
        is_whole = not (options["app_label"] or options["fake"])
        with lock_migrations(), surround_migrations() if is_whole else lock_schema():
            retry_while_locked(apply_migrations)
