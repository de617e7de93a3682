"""What a page is: its template, its context, its tables, and the members of the address that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import Environment


@dataclass(frozen=True)
class Page:
    """The content of a page. `context` is called for HTML only, `tables` are read for exports only.

    partial: the template for htmx requests, if it differs.
    takes: for members of the address (`name=value`), by name, a function that returns something true for an allowed
        value. The page says that it ignores any other value; an export refuses it. Members that are not in `takes`
        may have any value.
    limits: for members that may be repeated, by name, how many values the page takes. The page says that it ignores
        the others; an export refuses them.
    minimums: for members that say nothing unless they are repeated, by name, how many different values they need. The
        page says so beside its form; an export refuses fewer.
    searches: the members that are searched for word by word. The page says that it ignores words beyond
        MAX_SEARCH_WORDS; an export refuses them.
    has_period: whether the page depends on the chosen period.
    holds_secrets: whether the page shows a secret, so that browsers must not store it.
    """

    template: str
    context: Callable[[], Mapping[str, Any]]
    tables: Sequence[Table] = ()
    partial: str = ""
    takes: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    minimums: Mapping[str, int] = field(default_factory=dict)
    searches: Sequence[str] = ()
    has_period: bool = True
    holds_secrets: bool = False


View = Callable[[HttpRequest, Environment, Period], Page]
