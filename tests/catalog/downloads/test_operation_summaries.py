"""An operation's summary in plain words, and the tag that groups operations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.downloads.operation_summaries import summarize_operation
from catalog.downloads.operation_tags import choose_tag


@pytest.mark.parametrize(
    ("method", "path", "summary", "tag"),
    [
        ("GET", "/orders", "Get orders", "orders"),
        ("GET", "/orders/{orderId}", "Get an order", "orders"),
        ("DELETE", "/orders/{orderId}/lines/{lineId}", "Delete a line of an order", "orders"),
        ("PATCH", "/api/v2/paymentMethods/{id}", "Change a payment method", "paymentMethods"),
        ("POST", "/account/step-up", "Post to account step up", "account"),
        ("PUT", "/{tenant}/parcels/{id}.json", "Replace a parcel", "parcels"),
        ("GET", "/Customers('{key}')", "Get a customer", "Customers"),
        ("GET", "/repos/{owner}/{repo}/issues", "Get issues of a repo", "repos"),
        ("GET", "/v1", "Get v 1", "v1"),
        ("GET", "/v1/{id}", "Get an id", "v1"),
        ("GET", "/api/v1/{tenant}/orders", "Get orders", "api"),
        ("GET", "/{slug}", "Get a slug", None),
        ("GET", "/", "Get the root", None),
        ("PURGE", "/cache", "PURGE cache", "cache"),
    ],
)
def test_a_summary_is_a_verb_and_the_resource(method, path, summary, tag):
    assert (summarize_operation(method, path), choose_tag(path)) == (summary, tag)


@given(st.text(max_size=30), st.sampled_from(["GET", "M-SEARCH"]))
def test_every_path_has_a_summary(path, method):
    assert summarize_operation(method, f"/{path}").strip()
    assert choose_tag(f"/{path}") != ""
