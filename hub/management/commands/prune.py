"""`manage.py prune`: delete now what the worker would delete at night."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from hub.local.database.prepare import prepare_unused_database
from hub.retention.data_kinds import KINDS
from hub.retention.prune import prune_all


class Command(BaseCommand):
    help = "Delete the rows past the retention of their workspace, and print how many there were of each kind."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def handle(self, *args: Any, **options: Any) -> None:
        prepare_unused_database()
        row_counts = prune_all(now=timezone.now())
        if options["json"]:
            self.stdout.write(json.dumps(row_counts))
        else:
            self.stdout.write("\n".join(f"{row_counts[kind.name]:>10}  {kind.label.lower()}" for kind in KINDS))
