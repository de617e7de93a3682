"""A release of the shop whose changes the catalog has to detect: one field is different in each of four answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

RELEASE = "Release 5.0"
# From the annotation of the release until the shop's answers change, so that no drift is dated before the annotation
DEPLOYMENT_SECONDS = 60

Body = dict[str, Any]


def rename_pages(book: Body) -> Body:
    return {"pageCount" if name == "pages" else name: value for name, value in book.items()}


def remove_total(page: Body) -> Body:
    return {name: value for name, value in page.items() if name != "total"}


def change_placed_at_type(order: Body) -> Body:
    return {**order, "placedAt": datetime.fromtimestamp(order["placedAt"], UTC).isoformat()}


def add_gift_wrap(cart: Body) -> Body:
    return {**cart, "giftWrap": False}


# How the release changes an answer, by method and route.
CHANGES: Mapping[tuple[str, str], Callable[[Body], Body]] = {
    ("GET", "/books"): remove_total,
    ("GET", "/books/<int:bookId>"): rename_pages,
    ("GET", "/orders/<int:orderId>"): change_placed_at_type,
    ("GET", "/cart"): add_gift_wrap,
}


def apply_release(method: str, rule: str, answer: Body) -> Body:
    """Turn an answer that the shop gave before the release into the answer that it gives after the release."""
    change = CHANGES.get((method, rule))
    return change(answer) if change else answer
