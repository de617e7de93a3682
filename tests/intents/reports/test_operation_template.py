"""The stored template of a reported operation holds no value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.models import MAX_OPERATION
from intents.reports.operation_template import template_operation


@pytest.mark.parametrize(
    ("reported", "template"),
    [
        ("", ""),
        ("GET /orders", "GET /orders"),
        ("GET /orders/", "GET /orders/"),
        ("GET /orders/{orderId}", "GET /orders/{orderId}"),
        ("GET /orders/17", "GET /orders/{orderId}"),
        ("GET /search?q=anna@example.com", "GET /search"),
        ("DELETE /users/0d9f7c9e-8a8e-4f0b-9f55-6a7c7f6e2a11/cart", "DELETE /users/{userId}/cart"),
        ("orders.refund", "orders.refund"),
        ("orders.Orders/Refund", "orders.Orders/Refund"),
    ],
)
def test_a_reported_operation_becomes_a_template(reported, template):
    assert template_operation(reported) == template


@given(st.integers(10, 10**12), st.sampled_from(["GET /carts/{}/items", "carts/{}", "POST /a/b/{}"]))
def test_no_number_stays_in_a_path(number, form):
    assert str(number) not in template_operation(form.format(number))


@given(st.text(max_size=255))
def test_templating_again_changes_nothing_and_fits_the_column(text):
    once = template_operation(text)
    assert len(once) <= MAX_OPERATION
    assert template_operation(once) == once


def test_a_template_that_is_too_long_is_cut():
    template = template_operation("GET " + "/1" * 120)
    assert len(template) == MAX_OPERATION
    assert template.endswith("…")
