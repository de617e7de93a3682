"""The page of environments, with their last data. `workspaces` makes the page; the data are of all domains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest

from hub.last_data.queries import read_last_data
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import Environment, Workspace
from workspaces.pages.page import Page
from workspaces.settings_pages import environments

COLUMNS = ("environment", "witnessReportAt", "outcomeAt", "verificationAt", "deadLetters")


def show_environments(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the environments of the workspace, and when their last data came."""
    page = environments.show_environments(request, environment, period)
    return replace(
        page, tables=[*page.tables, Table("lastData", COLUMNS, lambda: _list_environment_rows(environment.workspace))]
    )


def _list_environment_rows(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for row in read_last_data(workspace):
        moments = (row.witness_report_at, row.outcome_at, row.verification_at)
        yield (row.environment.name, *moments, row.dead_letters)
