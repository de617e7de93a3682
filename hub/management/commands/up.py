"""`manage.py up`: run the whole hub on this machine, until Ctrl-C."""

from django.core.management.base import BaseCommand

from hub.doctor.misspelt_variables import warn_of_misspelt_names
from hub.local.ready_line import write_ready_line
from hub.local.run_hub import run_hub


class Command(BaseCommand):
    help = "Start PostgreSQL, the web server and the worker; print the address and, on a terminal, a sign-in link."
    requires_system_checks = []
    requires_migrations_checks = False

    def handle(self, *args: object, **options: object) -> None:
        warn_of_misspelt_names()
        run_hub(write_ready_line=lambda: write_ready_line(with_link=self.stdout.isatty()))
