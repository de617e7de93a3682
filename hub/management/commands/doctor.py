"""`manage.py doctor`: say what is wrong with this hub, and what to do about it."""

from __future__ import annotations

import json
import random
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from hub.doctor.result import Result
from hub.doctor.run_checks import list_checks, run_checks


class Command(BaseCommand):
    help = "Check settings, database, broker, worker and stored data; print one line for each check, with its cure."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")
        parser.add_argument("--seed", type=int, metavar="N", help="recount the same day as the run that printed N")

    def handle(self, *args: Any, seed: int | None, **options: Any) -> None:
        """Exit with status 1 if anything is wrong."""
        seed = random.randrange(10**6) if seed is None else seed
        results: dict[str, Result] = {}
        for name, result in run_checks(list_checks(seed)):
            results[name] = result
            if not options["json"]:
                self.stdout.write(format_result(name, result))
        is_ok = all(result.state == "ok" for result in results.values())
        if options["json"]:
            checks = {name: asdict(result) for name, result in results.items()}
            self.stdout.write(json.dumps({"ok": is_ok, "seed": seed, "checks": checks}))
        if not is_ok:
            sys.exit(1)


def format_result(name: str, result: Result) -> str:
    return f"{result.state:<8}{name:<13}{result.detail} {result.cure}".rstrip()
