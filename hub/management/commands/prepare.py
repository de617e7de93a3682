"""`manage.py prepare`: do what a start does before it starts processes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from hub.local.run_hub import prepare, require_own_database


class Command(BaseCommand):
    help = "Migrate the database of DATABASE_URL, give the web server's role its rights, build static files."
    requires_system_checks = []
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        require_own_database()
        prepare()
        self.stdout.write("Prepared.")
