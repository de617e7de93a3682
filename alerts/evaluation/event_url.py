"""Where the link in an event's messages leads: to the page about the happening, in the days around it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, timedelta

from django.urls import reverse
from django.utils.http import urlencode

from alerts.models import Alert
from alerts.rules.happenings import Happening

PAGES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    Alert.DRIFT: ("drift", {"breaking": "1"}),
    Alert.NEW_REASON: ("rejections", {}),
    Alert.REJECTIONS: ("rejections", {}),
    Alert.BROKEN_JOINS: ("joins", {}),
    Alert.SILENT: ("catalog", {}),
}


def build_event_url(alert: Alert, happening: Happening) -> str:
    """Return the address of the page about the happening, in the week that ends the day after it.

    That week shows it whenever the message is read; the day after belongs to it because dates are local to the reader.
    """
    page, query = PAGES[alert.kind]
    reason = {"reason": happening.facts["reason"]} if "reason" in happening.facts else {}
    day = happening.at.astimezone(UTC).date()
    period = {"from": day - timedelta(days=5), "to": day + timedelta(days=1)}
    address = reverse(page, args=[alert.workspace.slug, alert.environment.name])
    return f"{alert.origin}{address}?{urlencode({**query, **reason, **period})}"
