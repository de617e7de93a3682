"""`manage.py migrate`: Django's, after the checks that each start makes."""

from __future__ import annotations

from typing import Any

from django.core.management.commands.migrate import Command as Migrate

from hub.local.database import check_fitness


class Command(Migrate):
    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, unless a newer version wrote the database or it is empty beside data that were not moved."""
        check_fitness()
        super().handle(*args, **options)
