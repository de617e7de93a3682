"""Settings pages with what only the domains know. `workspaces` makes the pages; the hub adds tables to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from hub.settings_pages.key_uses import KeyUse, find_last_use, read_key_uses
from hub.settings_pages.last_data import read_last_data
from hub.settings_pages.rotation_results import RESULT_COLUMNS, read_signing_results
from wire.table_exports import Table
from wire.time.period import Period, parse_period
from workspaces.models import Environment, Workspace
from workspaces.pages.page import Page
from workspaces.settings_pages import environments, keys, secrets

USE_COLUMNS = (
    *("keyId", "environment", "outcomes", "brokenJoins", "rejections", "decisions", "verifiedAt"),
    *("movedAway", "movedHere"),
)
LAST_DATA_COLUMNS = ("environment", "witnessReportAt", "outcomeAt", "verificationAt", "deadLetters")


def show_keys(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show every key of the workspace, what it did in the last 7 days, and the form that creates one."""
    workspace, zone = environment.workspace, period.zone.key
    tables = [
        Table("keys", keys.COLUMNS, lambda: _key_rows(workspace, zone)),
        Table("uses", USE_COLUMNS, lambda: _use_rows(workspace, zone)),
    ]
    return replace(keys.show_keys(request, environment, period), tables=tables)


def show_environments(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the environments of the workspace, and when their last data came."""
    page = environments.show_environments(request, environment, period)
    last_data = Table("lastData", LAST_DATA_COLUMNS, lambda: _last_data_rows(environment.workspace))
    return replace(page, tables=[*page.tables, last_data])


def show_secrets(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the signing secrets, and the results of calls before and after the present secret began to sign."""
    page = secrets.show_secrets(request, environment, period)
    results = Table("results", RESULT_COLUMNS, lambda: _result_rows(environment.workspace))
    return replace(page, tables=[*page.tables, results])


def _key_rows(workspace: Workspace, zone: str) -> Iterator[Sequence[Any]]:
    uses = _read_last_uses(workspace, zone)
    rows = workspace.api_keys.order_by("-id")
    return keys.export_rows(rows, lambda key: find_last_use(key, uses.get(key.pk, ())))


def _use_rows(workspace: Workspace, zone: str) -> Iterator[Sequence[Any]]:
    uses = _read_last_uses(workspace, zone)
    for key in workspace.api_keys.order_by("-id"):
        for use in uses.get(key.pk, ()):
            numbers = (use.outcomes, use.broken_joins, use.rejections, use.decisions)
            moved = (sum(use.moved_away.values()), sum(use.moved_here.values()))
            yield (key.prefix, use.environment.name, *numbers, use.verified_at, *moved)


def _read_last_uses(workspace: Workspace, zone: str) -> Mapping[int, Sequence[KeyUse]]:
    """Return the uses of each key in the last 7 days, by its row id."""
    now = timezone.now()
    return read_key_uses(workspace, parse_period({"tz": zone}, now=now), now=now)


def _last_data_rows(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for row in read_last_data(workspace):
        moments = (row.witness_report_at, row.outcome_at, row.verification_at)
        yield (row.environment.name, *moments, row.dead_letters)


def _result_rows(workspace: Workspace) -> Iterator[Sequence[Any]]:
    return (result.list_cells() for result in read_signing_results(workspace, now=timezone.now()))
