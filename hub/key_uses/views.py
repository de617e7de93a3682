"""The page of API keys, with what each key did. `workspaces` makes the page; the uses come from all domains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from hub.key_uses.queries import KeyUse, find_last_use, read_key_uses
from wire.table_exports import Table
from wire.time.period import Period, parse_period
from workspaces.models import Environment, Workspace
from workspaces.pages.page import Page
from workspaces.settings_pages import keys

USE_COLUMNS = (
    *("keyId", "environment", "outcomes", "brokenJoins", "rejections", "decisions", "verifiedAt"),
    *("movedAway", "movedHere"),
)


def show_keys(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show every key of the workspace, what it did in the last 7 days, and the form that creates one."""
    workspace, zone = environment.workspace, period.zone.key
    tables = [
        Table("keys", keys.COLUMNS, lambda: _key_rows(workspace, zone)),
        Table("uses", USE_COLUMNS, lambda: _use_rows(workspace, zone)),
    ]
    return replace(keys.show_keys(request, environment, period), tables=tables)


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
