"""`manage.py migrate`: Django's command, after the checks that each start makes."""

from __future__ import annotations

from typing import Any

from django.core.management.commands.migrate import Command as Migrate
from django.utils import timezone

from hub.local.database import check_fitness
from hub.local.first_schema import load_first_schema
from hub.local.partitions import create_partitions


class Command(Migrate):
    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate. Refuse a database of a newer version, and an empty one while the embedded one has data."""
        check_fitness()
        is_whole = not (options["app_label"] or options["plan"] or options["check_unapplied"] or options["fake"])
        if is_whole:
            load_first_schema()
        super().handle(*args, **options)
        if is_whole:
            create_partitions(now=timezone.now())
