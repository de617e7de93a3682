"""The base of commands about workspaces: prepare the database, find the workspace, show each error in one line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.db.models import Q

from hub.local.database.prepare import prepare_unused_database
from hub.local.startup_errors import StartupError
from wire.errors import DomainError
from wire.time.timestamps import parse_moment
from workspaces.models import Workspace

ACTOR = "command line"


class WorkspaceCommand(BaseCommand):
    """A command about one workspace; a subclass acts in `act`."""

    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "workspace", metavar="WORKSPACE", help="its slug, as in the addresses of its pages, or its id"
        )

    def handle(self, *args: Any, workspace: str, **options: Any) -> None:
        prepare_unused_database()
        with one_line_errors():
            self.act(find_workspace(workspace), **options)

    def act(self, workspace: Workspace, **options: Any) -> None:
        raise NotImplementedError  # every subclass acts

    def print_json(self, facts: Mapping[str, Any]) -> None:
        self.stdout.write(json.dumps(facts))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the error of a domain, or of the database, into the one line of a StartupError."""
    try:
        yield
    except DomainError as error:
        raise StartupError(error.detail) from None
    except DatabaseError as error:
        raise StartupError(f"the database refused this or cannot be reached ({type(error).__name__}).") from None


def find_workspace(name: str) -> Workspace:
    workspace = Workspace.objects.filter(Q(slug=name) | Q(pk=name), removed_at=None).first()
    if workspace is None:
        slugs = ", ".join(
            Workspace.objects.filter(removed_at=None).order_by("slug").values_list("slug", flat=True)[:50]
        )
        raise StartupError(f"there is no workspace {name!r}. This hub has: {slugs or 'none yet'}.")
    return workspace


def require_text(text: str, name: str) -> str:
    """Return an argument unless it is empty. Raises StartupError."""
    if not text:
        raise StartupError(f"{name} is empty. Is the variable that you pass set?")
    return text


def parse_date_option(text: str) -> datetime:
    """Read `2027-01-01` or `2027-01-01T12:00Z`; without an offset it is UTC. Raises StartupError."""
    try:
        return parse_moment(text) if "T" in text or " " in text else _start_of_day(text)
    except ValueError:
        raise StartupError(f"{text!r} is no date. Write 2027-01-01 or 2027-01-01T12:00Z.") from None


def _start_of_day(text: str) -> datetime:
    return datetime.combine(date.fromisoformat(text), time(), UTC)
