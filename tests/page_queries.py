"""The pages of the hub, for tests that open each of them."""

from __future__ import annotations

from collections.abc import Mapping

from django.urls import get_resolver

from catalog.models import Drift
from intents.models import Rejection

QUERIES: Mapping[str, Mapping[str, str]] = {
    "operation": {"method": "GET", "path": "/orders/{orderId}"},
    "property": {"method": "GET", "path": "/orders/{orderId}", "part": "200", "at": ""},
    "search": {"q": "o"},
    "difference": {"against": "staging"},
    "outcome": {"key": "purchase"},
    "conversation": {"id": "conv_1"},
    "toolcall": {"id": "call_expired"},
}


def find_query(page: str) -> Mapping[str, str]:
    """Return the query with which a page shows something of the data that tests.sample_data stores."""
    if page == "rejection":
        rejection = Rejection.objects.earliest("occurred_at", "id")
        return {"at": rejection.occurred_at.isoformat(), "id": str(rejection.pk)}
    if page == "change":
        return {"id": str(Drift.objects.earliest("id").pk)}
    return QUERIES.get(page, {})


def list_page_names() -> list[str]:
    names = (str(name) for name in get_resolver().reverse_dict if isinstance(name, str))
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))
