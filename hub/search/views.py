"""The page of the search, and its results alone for the box that every page has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from hub.search.everything import list_examples, search_everything
from hub.search.results import ResultGroup
from wire.address_members import read_text
from wire.http.request_id import REQUEST_ID_PREFIX
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

MAX_TEXT = 255  # characters: the longest id
COLUMNS = ("kind", "title", "detail", "method", "path", "address")


def show_search(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show what matches `q`, by kind. No browser may store the answer, because it repeats the search text."""
    text = read_text(request.GET, "q").strip()
    is_too_long = len(text) > MAX_TEXT

    def search() -> list[ResultGroup]:
        return search_everything(environment, text, request.user) if text and not is_too_long else []

    def build_context() -> Mapping[str, Any]:
        groups = search() if text else list_examples(environment)
        return {
            "text": "" if is_too_long else text,
            "is_too_long": is_too_long,
            "max_text": MAX_TEXT,
            "groups": groups,
            "result_count": sum(len(group.results) for group in groups),
            "has_more": any(group.has_more for group in groups),
            "is_request_id": text.startswith(REQUEST_ID_PREFIX),
        }

    tables = [Table("results", COLUMNS, lambda: _result_rows(environment, search()))]
    return Page(
        "hub/search.html",
        build_context,
        tables,
        partial="hub/_partials/search_results.html",
        takes={"q": lambda _: not is_too_long},
        has_period=False,
        holds_secrets=True,
    )


def _result_rows(environment: Environment, groups: Sequence[ResultGroup]) -> Iterator[Sequence[Any]]:
    for group in groups:
        for result in group.results:
            name = result.environment or environment.name
            address = reverse(result.page, args=[environment.workspace.slug, name]) + result.query
            method, path = result.method or None, result.path or None
            yield (group.kind, result.text, result.detail or None, method, path, address)
