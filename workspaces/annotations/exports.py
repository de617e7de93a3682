"""The annotations of a page's period as a table of its downloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wire.period import Period
from wire.table_exports import Table
from workspaces.annotations.queries import list_annotations_of_period
from workspaces.models import Environment

COLUMNS = ("at", "text", "url", "environment", "createdBy")


def build_annotations_table(environment: Environment, period: Period) -> Table:
    """Return the table `annotations`: the latest first; `environment` is null if it concerns all of them."""
    return Table("annotations", COLUMNS, lambda: _list_rows(environment, period))


def _list_rows(environment: Environment, period: Period) -> Iterator[Sequence[Any]]:
    for row in list_annotations_of_period(environment, period).iterator():
        name = row.environment.name if row.environment else None
        yield row.at, row.text, row.url or None, name, row.created_by
