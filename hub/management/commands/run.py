"""`manage.py run PROCESS`: run one process of the hub under a supervisor of the operator's own."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from hub.doctor.misspelt_variables import warn_of_misspelt_names
from hub.local.command_lines import PROGRAMS
from hub.local.run_hub import run_process


class Command(BaseCommand):
    help = "Run the web server, a worker or beat with DATABASE_URL; `manage.py prepare` comes first."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("process", choices=PROGRAMS)

    def handle(self, *args: Any, process: str, **options: Any) -> None:
        warn_of_misspelt_names()
        run_process(process)
