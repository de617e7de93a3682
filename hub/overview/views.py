"""The overview, which needs every domain, and the browsable documentation of the API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator

from catalog.drift.queries import list_latest_drift
from catalog.queries import count_operations
from hub.overview.facts import BROKEN_JOINS, FACT_COLUMNS, build_facts, build_figure, list_setup_steps
from hub.sample.views import may_remove_sample
from intents.gate.queries import has_confirmations
from intents.rejections.queries import has_verifications, load_overview
from outcomes.broken_joins.overview import read_outcomes_overview
from outcomes.tallies.series import chart_buckets, has_any_outcome, read_series_of_all_keys
from wire.period import Period
from wire.table_exports import Table
from workspaces.annotations.exports import build_annotations_table
from workspaces.models import Environment
from workspaces.page import Page

LATEST_DRIFT = 5
TOP_REASONS = 5


def overview(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the five numbers, outcomes over time, and the main cause of broken joins."""
    outcomes = read_outcomes_overview(environment, period)
    rejections = load_overview(environment, period)
    operations = count_operations(environment, period)
    facts = build_facts(outcomes, rejections, operations)
    buckets = chart_buckets(environment, period)
    line = read_series_of_all_keys(environment, buckets)

    def build_context() -> Mapping[str, Any]:
        labels = [bucket.label for bucket in buckets]
        steps = list_setup_steps(
            has_operations=operations.total > 0,
            has_outcomes=has_any_outcome(environment),
            has_verifications=has_verifications(environment),
            has_confirmations=has_confirmations(environment),
        )
        return {
            "steps": steps,
            "has_data": any(step.is_done for step in steps if step.page),
            "has_open_steps": not all(step.is_done for step in steps),
            "removable_sample": may_remove_sample(request, environment.workspace),
            "facts": facts,
            "cause": outcomes.main_cause,
            "totals": outcomes.totals,
            "reasons": rejections.reasons[:TOP_REASONS],
            "drift": list_latest_drift(environment, LATEST_DRIFT),
            "figure": build_figure(buckets, {"Outcomes": line.outcomes, BROKEN_JOINS: line.broken}),
            "series": list(zip(labels, line.conversations, line.outcomes, line.broken, strict=True)),
        }

    def list_series_rows() -> Iterator[Sequence[Any]]:
        starts = (bucket.start for bucket in buckets)
        return zip(starts, line.conversations, line.outcomes, line.broken, strict=True)

    return Page(
        "hub/overview.html",
        build_context,
        tables=[
            Table("facts", FACT_COLUMNS, lambda: [fact.to_row() for fact in facts]),
            Table("series", ("start", "conversations", "outcomes", "brokenJoins"), list_series_rows),
            Table(
                "reasons", ("reason", "rejections"), lambda: [(item.reason, item.count) for item in rejections.reasons]
            ),
            build_annotations_table(environment, period),
        ],
    )


def api_schema(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI document of the API of the hub."""
    return HttpResponse(render_api_schema(), content_type="application/vnd.oai.openapi+json")


@cache
def render_api_schema() -> bytes:
    """Return the document; it costs a third of a second, and stays the same as long as the process lives."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # the library has no types
    schema = generator.get_schema(public=True)  # type: ignore[no-untyped-call]  # as above
    return json.dumps(schema, ensure_ascii=False, indent=2).encode()


# Swagger's own components set style attributes; this page shows no customer's data.
@csp_update({"style-src": ["'unsafe-inline'"]})
def api_docs(request: HttpRequest) -> HttpResponse:
    return render(request, "hub/api_docs.html")
