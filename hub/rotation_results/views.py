"""The page of signing secrets, with how many calls were accepted or rejected before and after a rotation.

`workspaces` makes the page; the domain `intents` has the results of calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from hub.rotation_results.queries import RESULT_COLUMNS, read_signing_results
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import Environment, Workspace
from workspaces.pages.page import Page
from workspaces.settings_pages import secrets


def show_secrets(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the signing secrets, and the results of calls before and after the present secret began to sign."""
    page = secrets.show_secrets(request, environment, period)
    results = Table("results", RESULT_COLUMNS, lambda: _list_result_rows(environment.workspace))
    return replace(page, tables=[*page.tables, results])


def _list_result_rows(workspace: Workspace) -> Iterator[Sequence[Any]]:
    return (result.list_cells() for result in read_signing_results(workspace, now=timezone.now()))
