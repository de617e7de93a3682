"""The page of one drift change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from catalog.browse.properties.history import find_successor
from catalog.browse.properties.presence_by_day import DAY_COLUMNS, list_day_cells
from catalog.change_page import meaning_and_advice, page_data
from catalog.change_page.days_chart import describe_days
from catalog.change_page.meaning_and_advice import StatusShare
from catalog.change_page.mute import DEFAULT_MUTE_DAYS, MUTE_DAYS, find_mute
from catalog.change_page.page_data import CurrentField
from catalog.change_page.summary import summarize_change
from catalog.drift import exports
from catalog.models import Drift
from wire.address_members import read_number
from wire.errors import NotFound
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.annotations.queries import find_annotation_before
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page


def show_change(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one change: before, after, its evidence, whom it affects. Raises NotFound if there is none."""
    drift = require_drift(environment, read_number(request.GET, "id"))

    def build_context() -> Mapping[str, Any]:
        now = timezone.now()
        today = now.astimezone(UTC).date()
        field = page_data.find_current_field(environment, drift, today=today)
        predecessor = field.predecessor if field else None
        share = _find_share(field, today=today) if meaning_and_advice.is_new_status(drift) else None
        is_replacement = predecessor is not None and predecessor.is_gone
        all_story, siblings = page_data.find_story(drift), page_data.find_simultaneous_changes(drift)
        story, mute = list(all_story[: page_data.MAX_STORY]), find_mute(drift, now=now)
        return {
            "change": drift,
            "is_new_status": meaning_and_advice.is_new_status(drift),
            "impact": meaning_and_advice.explain_impact(drift, share),
            "since": drift.since.isoformat(),
            "advice": meaning_and_advice.advise(drift, is_replacement=is_replacement),
            "release": find_annotation_before(environment, drift.at) if drift.breaks or is_replacement else None,
            "versions": page_data.load_versions(drift),
            "field": field,
            "summary": summarize_change(
                drift,
                story=story,
                share=share,
                values_since=page_data.count_new_type_since(drift, field.node) if field else None,
                presence_since=field.since_detection if field else None,
                absent_now=field.absent_now if field else 0,
                is_muted=mute is not None,
            ),
            "sides": field.sides if field else [],
            "last_title": field.sides[-1][0] if field else "After",
            "today": today,
            "node": field.node if field else None,
            "successor": find_successor([drift], drift.pointer),
            "predecessor": predecessor,
            "story": story,
            "story_count": all_story.count(),
            "siblings": list(siblings[: page_data.MAX_SIBLINGS]),
            "sibling_count": siblings.count(),
            "chart_change": drift,
            "chart_field": (drift.operation_id, drift.part, drift.pointer),
            **describe_days(field, drift, period, today=today),
            "mute": mute,
            "mute_days": MUTE_DAYS,
            "default_mute_days": DEFAULT_MUTE_DAYS,
            "may_set_alerts": has_role(request.user, environment.workspace, Membership.ADMIN),
            "may_decide": has_role(request.user, environment.workspace, Membership.EDITOR),
        }

    tables = [exports.export_change(drift), Table("days", DAY_COLUMNS, lambda: _list_day_rows(environment, drift))]
    return Page("catalog/change.html", build_context, tables, has_period=False)


def _find_share(field: CurrentField | None, *, today: date) -> StatusShare | None:
    """Return the share of a new status on the latest day on which the operation was observed."""
    if field is None or not field.days:
        return None
    latest = field.days[-1]
    when = "today" if latest.day == today else f"on {latest.day:%-d %b %Y}"
    return StatusShare(latest.presence.seen, latest.presence.parents or 0, when)


def _list_day_rows(environment: Environment, drift: Drift) -> Iterator[Sequence[Any]]:
    today = timezone.now().astimezone(UTC).date()
    field = page_data.find_current_field(environment, drift, today=today)
    return map(list_day_cells, field.days if field else ())


def require_drift(environment: Environment, number: int | None) -> Drift:
    """Return the change with this number. Raises NotFound if this environment has none."""
    drift = page_data.find_drift(environment, number)
    if drift is None:
        raise NotFound("This environment has no such change. Look for it in the feed of drift.")
    return drift
