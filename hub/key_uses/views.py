"""The page of API keys with what each key did: the page itself is of the workspace, the uses are of all domains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from hub.key_uses.queries import read_key_uses
from wire.period import Period, parse_period
from wire.table_exports import Table
from workspaces.models import Environment, Workspace
from workspaces.page import Page
from workspaces.settings_pages import keys

USE_COLUMNS = ("keyId", "environment", "outcomes", "brokenJoins", "rejections", "decisions", "verifiedAt")


def show_keys(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show every key of the workspace, what it did in the last 7 days, and the form that creates one."""
    page = keys.show_keys(request, environment, period)
    uses = Table("uses", USE_COLUMNS, lambda: _use_rows(environment.workspace, period.zone.key))
    return replace(page, tables=[*page.tables, uses])


def _use_rows(workspace: Workspace, zone: str) -> Iterator[Sequence[Any]]:
    now = timezone.now()
    uses = read_key_uses(workspace, parse_period({"tz": zone}, now=now), now=now)
    for key in workspace.api_keys.order_by("-id"):
        for use in uses.get(key.pk, ()):
            numbers = (use.outcomes, use.broken_joins, use.rejections, use.decisions)
            yield (key.prefix, use.environment.name, *numbers, use.verified_at)
