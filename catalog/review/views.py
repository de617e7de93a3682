"""The page of one drift change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from catalog.drift import exports
from catalog.drift.history import PRESENCE_KINDS
from catalog.models import Drift
from catalog.review import detail, impact
from catalog.review.decide import MUTE_DAYS
from wire.errors import NotFound
from wire.filters import read_number
from wire.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.page import Page


def show_change(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one change: before, after, its evidence, whom it affects. Raises NotFound where there is none."""
    drift = require_drift(environment, read_number(request.GET, "id"))

    def build_context() -> Mapping[str, Any]:
        now = timezone.now()
        field = detail.find_current_field(environment, drift, today=now.astimezone(UTC).date())
        return {
            "change": drift,
            "is_of_presence": drift.kind in PRESENCE_KINDS,
            "impact": impact.explain_impact(drift),
            "advice": impact.advise(drift),
            "versions": detail.load_versions(drift),
            "field": field,
            "node": field.node if field else None,
            "siblings": detail.list_siblings(drift),
            "mute": detail.find_mute(drift, now=now),
            "mute_days": MUTE_DAYS,
            "may_decide": has_role(request.user, environment.workspace, Membership.EDITOR),
        }

    return Page("catalog/change.html", build_context, [exports.export_change(drift)], has_period=False)


def require_drift(environment: Environment, number: int | None) -> Drift:
    """Return the change with this number. Raises NotFound where this environment has none."""
    drift = detail.find_drift(environment, number)
    if drift is None:
        raise NotFound("This environment has no such change. Look for it in the feed of drift.")
    return drift
