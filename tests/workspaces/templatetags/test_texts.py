"""How paths and the values of the audit log are written."""

import pytest
from django.template import Context, Template
from django.utils import timezone

from workspaces.templatetags import texts


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("key created", "key created"), (["report", "confirm"], "report, confirm"), (90, "90"), (None, "none"),
        (True, "yes"), (False, "no"), ({"v1Until": None, "days": 90}, "v1 until none, days 90"),
        ({"a": ["<b>"]}, "a &lt;b&gt;"), ([], ""), ({}, ""),
    ],
)  # fmt: skip
def test_facts_of_the_audit_log_are_written_for_readers(value, written):
    assert texts.format_fact(value) == written


def test_a_time_in_a_fact_is_written_in_the_zone_of_the_reader():
    with timezone.override("Asia/Kathmandu"):
        assert ">Sun 1 Mar, 17:45</time>" in texts.format_fact("2026-03-01T12:00:00.5+00:00")
    assert texts.format_fact("2026-03-01") == "2026-03-01"


@pytest.mark.parametrize("text", ["2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "0001-01-01T00:00:00Z"])
def test_a_text_in_a_fact_that_only_looks_like_a_time_is_written_as_it_is(text):
    with timezone.override("America/New_York"):
        assert texts.format_fact(text) == text


def test_a_path_can_wrap_after_each_slash_except_the_first():
    rendered = Template("{{ path|breakable }}").render(Context({"path": "/orders/{orderId}/<b>"}))
    assert rendered == "/orders/<wbr>{orderId}/<wbr>&lt;b&gt;"
    assert Template("{{ path|breakable }}").render(Context({"path": "/"})) == "/"
    assert Template("{{ path|breakable }}").render(Context({"path": "GET /orders/17"})) == "GET /orders/<wbr>17"


def test_characters_that_cannot_be_seen_in_a_path_are_written_as_codes():  # U+202E turns the text after it around
    rendered = Template("{{ path|breakable }}").render(Context({"path": "/a b/\u202e71\u202c\u200b/é😀"}))
    assert rendered == r"/a b/<wbr>\u202e71\u202c\u200b/<wbr>é😀"
