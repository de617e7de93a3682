"""Media types in reports are known types or ranges."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._intents.args import InvalidArgs, request_args
from affidavit._shapes.media_types import (
    ANY,
    MAX_MEDIA_TYPES,
    bound_media_types,
    is_form,
    is_json,
    name_utf8,
    reduce_media_type,
)


@pytest.mark.parametrize(("content_type", "media_type"), [
    ("text/csv", "text/csv"), ("Text/CSV; charset=utf-8; name=canary", "text/csv"),
    (" application/json ", "application/json"), ("application/problem+json", "application/problem+json"),
    ("application/vnd.github.v3+json", "application/vnd.github.v3+json"),
    ("application/vnd.api+json", "application/vnd.api+json"),
    ("multipart/form-data; boundary=canary", "multipart/form-data"),
    ("application/vnd.acme-shop.order+xml", "application/vnd.acme-shop.order+xml"),
    ("application/x-canary", "application/*"), ("text/canary", "text/*"), ("image/canary+xml", "image/*"),
    ("application/vnd.acme.4711+json", "application/*"), ("application/vnd.canary", "application/*"),
    ("application/vnd.a3f9b2c1d4e5f607+json", "application/*"),
    ("application/vnd.anna@example.com+json", "application/*"),
    ("canary", "*/*"), ("canary/json", "*/*"), ("text/csv, canary/b", "text/*"), ("a b/c", "*/*"), ("/", "*/*"),
    ("", ""), ("; charset=utf-8", ""), ("*/*", "*/*"), ("text/", "text/*"), ("text/*", "text/*"),
])  # fmt: skip
def test_a_content_type_becomes_a_known_type_or_a_range(content_type, media_type):
    assert reduce_media_type(content_type) == media_type


@given(st.text(max_size=60))
def test_reducing_a_reduced_type_again_changes_nothing(text):
    reduced = reduce_media_type(text)
    assert reduce_media_type(reduced) == reduced
    assert len(reduced) <= 100


COUNTS = st.dictionaries(st.sampled_from([ANY, *(f"image/{n}" for n in range(20))]), st.integers(1, 9)).map(Counter)


@given(COUNTS, COUNTS, COUNTS)
def test_bounded_sums_are_the_same_in_any_order(a, b, c):
    def add(first, second):
        return bound_media_types(first + second)

    assert add(a, b) == add(b, a)
    assert add(add(a, b), c) == add(a, add(b, c))
    total = add(add(a, b), c)
    assert bound_media_types(total) == total
    assert (len(total) <= MAX_MEDIA_TYPES, total.total()) == (True, (a + b + c).total())


def test_json_and_forms_are_recognised_by_their_types():
    assert all(map(is_json, ["application/json", "Application/Problem+JSON; x=1", "text/json"]))
    assert not any(map(is_json, ["", "application/jsonl", "application/json-seq", "text/plain"]))
    assert all(map(is_form, ["application/x-www-form-urlencoded; charset=utf-8", "Multipart/form-data; boundary=x"]))
    assert not any(map(is_form, ["", "multipart/mixed", "text/plain"]))


@pytest.mark.parametrize("content_type", [
    "application/json", "TEXT/JSON;charset=utf-8", " application/problem+json ;x=1", "model/gltf+json",
    "image/svg+json", "+json", "application/+json", "text/plain, a/b+json", "application/json, application/json",
    "application/json-seq", "application/jsonl", "text/plain", "json", "application/+jsonp", "",
])  # fmt: skip
def test_the_body_of_a_type_is_json_for_a_witness_exactly_if_it_is_for_the_arguments_of_an_intent(content_type):
    try:
        request_args(b"not JSON", content_type)
    except InvalidArgs:
        assert is_json(content_type)
    else:
        assert not is_json(content_type)


@pytest.mark.parametrize(("content_type", "in_utf8"), [
    ("application/json", "application/json"), ("text/plain;x=charset", "text/plain;x=charset"),
    ("a/b; Charset = \"utf-7\"; boundary=b", "a/b; Charset=utf-8; boundary=b"),
    ("a/b;charset=utf-8;charset=utf-7", "a/b;charset=utf-8;charset=utf-8"),
    ("a/b; charset*=utf-8''utf-7", "a/b; charset=utf-8"),
    ("a/b; charset*0*=utf-8''ut; charset*1=f-7", "a/b; charset=utf-8; charset=utf-8"),
])  # fmt: skip
def test_a_charset_that_a_framework_may_read_becomes_utf_8(content_type, in_utf8):
    assert name_utf8(content_type) == in_utf8
