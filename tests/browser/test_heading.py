"""The time zone and the age of a page stay beside the heading, and no button falls below the title."""

from __future__ import annotations

import pytest

from catalog.models import Drift
from intents.models import Rejection

PAGES = ("catalog", "inspector", "toolcall?id=call_expired", "deliveries", "audit", "keys", "joins")


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_heading_pushes_the_time_zone_onto_a_line_of_its_own(new_tab, start_of_pages, width):
    tab = new_tab(width=width)
    rejection = Rejection.objects.earliest("occurred_at", "id")
    moment = rejection.occurred_at.isoformat().replace("+", "%2B")
    pages = [f"change?id={Drift.objects.earliest('id').pk}", f"rejection?at={moment}&id={rejection.pk}"]
    for name in (*PAGES, *pages):
        page = tab.open(f"{start_of_pages}/{name}")
        top, bottom = (
            page.locator(selector).first.evaluate(f"box => box.getBoundingClientRect().{edge}")
            for selector, edge in ((".stamp", "top"), ("main h1, main .head > *", "bottom"))
        )
        assert top < bottom, name


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_button_falls_below_the_title(new_tab, start_of_pages, width):
    tab = new_tab(width=width)
    numbers = Drift.objects.order_by("id").values_list("pk", flat=True)[:6]
    for name in ("toolcall?id=call_expired", *[f"change?id={number}" for number in numbers]):
        page = tab.open(f"{start_of_pages}/{name}")
        bottom = page.locator("main h1").evaluate("box => box.getBoundingClientRect().bottom")
        tops = page.locator("main .head > .btn").evaluate_all(
            "boxes => boxes.map(box => box.getBoundingClientRect().top)"
        )
        assert all(top < bottom for top in tops), name
