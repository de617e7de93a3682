"""How numbers, times and addresses are written."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from workspaces.models import Environment, Workspace
from workspaces.templatetags import format as formats

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("value", "written"), [(0, "0"), (12204, "12,204"), (None, "–")])
def test_counts_have_groups_of_three(value, written):
    assert formats.count(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("key created", "key created"), (["report", "confirm"], "report, confirm"), (90, "90"), (None, "none"),
        (True, "yes"), (False, "no"), ({"v1Until": None, "days": 90}, "v1 until none, days 90"),
        ({"a": ["<b>"]}, "a &lt;b&gt;"), ([], ""), ({}, ""),
    ],
)  # fmt: skip
def test_facts_of_the_audit_log_are_written_for_readers(value, written):
    assert formats.format_fact(value) == written


def test_a_time_in_a_fact_is_written_in_the_zone_of_the_reader():
    with timezone.override("Asia/Kathmandu"):
        assert ">Sun 1 Mar, 17:45</time>" in formats.format_fact("2026-03-01T12:00:00.5+00:00")
    assert formats.format_fact("2026-03-01") == "2026-03-01"


@pytest.mark.parametrize("text", ["2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "0001-01-01T00:00:00Z"])
def test_a_text_in_a_fact_that_only_looks_like_a_time_is_written_as_it_is(text):
    with timezone.override("America/New_York"):
        assert formats.format_fact(text) == text


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [
        (127, 5058, "2.5 %"), (41, 13190, "0.3 %"), (1, 2, "50.0 %"), (3, 1000, "0.3 %"),
        (0, 9, "0 %"), (9, 9, "100 %"),
        (3, 1, "300.0 %"), (1, 10**6, "< 0.1 %"), (999_999, 10**6, "> 99.9 %"),
        (0, 0, "–"), (None, 5, "–"), (5, None, "–"),
    ],
)  # fmt: skip
def test_a_rate_has_one_decimal(part, whole, written):
    assert formats.percent(part, whole) == written


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_only_an_exact_zero_is_0_and_only_an_exact_whole_is_100_percent(part, whole):
    written = formats.percent(part, whole)
    assert (written == "0 %") == (part == 0)
    assert part <= whole or written not in ("0 %", "> 99.9 %")
    if part < whole:
        assert written != "100 %"


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2**22, "4 MiB"), (2**50, "1024 TiB")],
)
def test_sizes_are_in_binary_units(value, written):
    assert formats.format_bytes(value) == written


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(), "now"),
        (timedelta(seconds=8), "8 s ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=30), "30 days ago"),
        (timedelta(days=90), "1 Dec 2025"),
        (-timedelta(minutes=5), "in 5 min"),
    ],
)
def test_a_relative_time_has_the_exact_time_in_its_title(passed, words):
    written = formats.ago(NOW - passed, NOW)
    assert f">{words}</time>" in written
    assert f'datetime="{(NOW - passed).isoformat()}"' in written
    assert "UTC" in written


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (39, 6, "6.5×"), (10, 2, "5×"), (4, 2, "2×"), (399, 200, "+99.5 %"), (6, 7, "−14.3 %"), (5, 5, "0 %"),
        (5, 0, "–"), (12_000, 1, "12,000×"),
        (10_007, 10_000, "+0.1 %"), (10_001, 10_000, "±0 %"), (9999, 10_000, "±0 %"),
        (0, 7, "−100 %"), (1, 20_000, "−99.9 %"), (19_999, 10_000, "+99.9 %"),
    ],
)  # fmt: skip
def test_a_change_is_a_factor_from_a_doubling_on(now, before, words):
    assert formats.format_change(now, before) == words


@pytest.mark.parametrize(
    ("left", "seconds", "words"),
    [
        (timedelta(minutes=4, seconds=8), 248, "4 min 08 s"), (timedelta(minutes=1), 60, "1 min 00 s"),
        (timedelta(seconds=37.2), 38, "38 s"), (timedelta(), 0, "0 s"), (timedelta(seconds=-3), 0, "0 s"),
    ],
)  # fmt: skip
def test_a_countdown_has_its_seconds_for_the_script(left, seconds, words):
    assert f'data-seconds-left="{seconds}">{words}</span>' in formats.countdown(NOW + left, NOW)


def test_a_time_that_never_was_is_written_as_never():
    assert formats.ago(None) == "never"


def render_template(template: str, query: str = "", **context) -> str:
    request = RequestFactory().get(f"/?{query}")
    return Template("{% autoescape off %}" + template + "{% endautoescape %}").render(
        Context({"request": request, **context})
    )


def test_the_query_tag_changes_some_members_and_keeps_the_others():
    url = render_template("{% query sort='path' page=None status='' %}", "range=7d&page=3&status=200&sort=count")
    assert parse_qs(url[1:]) == {"range": ["7d"], "sort": ["path"]}


def test_the_query_tag_keeps_repeated_members():
    assert parse_qs(render_template("{% query sort='path' %}", "key=a&key=b")[1:])["key"] == ["a", "b"]


def test_a_value_in_the_query_is_escaped_in_the_page():
    request = RequestFactory().get("/", {"q": '"><script>'})
    context = Context({"request": request})
    page = Template('<a href="{% query sort="x" %}">{% query_inputs "sort" %}').render(context)
    assert "<script>" not in page


def test_hidden_inputs_repeat_the_query_without_the_fields_of_the_form():
    inputs = render_template("{% query_inputs 'q' 'page' %}", "q=old&page=2&key=a&key=b&tz=UTC")
    assert [name in inputs for name in ('"q"', '"page"', '"key" value="a"', '"key" value="b"', '"tz"')] == [
        False, False, True, True, True,
    ]  # fmt: skip


def environment() -> Environment:
    return Environment(workspace=Workspace(name="Lumen", slug="lumen"), name="staging")


def test_an_address_of_a_page_keeps_only_the_period():
    query = "from=2026-01-01&to=2026-01-31&tz=Europe/Berlin&page=4&q=x"
    url = render_template("{% page_url 'overview' %}", query, environment=environment())
    path, _, members = url.partition("?")
    assert path == "/w/lumen/staging/overview"
    assert parse_qs(members) == {"from": ["2026-01-01"], "to": ["2026-01-31"], "tz": ["Europe/Berlin"]}


def test_an_address_of_a_page_can_have_other_members():
    tag = "{% page_url 'overview.csv' table='keys' range='30d' %}"
    url = render_template(tag, "range=7d", environment=environment())
    assert parse_qs(url.partition("?")[2]) == {"table": ["keys"], "range": ["30d"]}
    assert render_template("{% page_url 'overview' %}", environment=environment()) == "/w/lumen/staging/overview"


def test_a_path_can_wrap_after_each_slash_except_the_first():
    rendered = Template("{{ path|breakable }}").render(Context({"path": "/orders/{orderId}/<b>"}))
    assert rendered == "/orders/<wbr>{orderId}/<wbr>&lt;b&gt;"
    assert Template("{{ path|breakable }}").render(Context({"path": "/"})) == "/"


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        ((2, 3386), (1, 2260), "±0"),  # 0.06 % and 0.04 %: rounded, the difference would be 0.1
        ((7, 2764), (5, 2260), "±0"),
        ((24, 1000), (14, 1000), "+1.0"),
        ((0, 0), (1, 2), ""),
    ],
)
def test_the_change_of_a_rate_agrees_with_the_rates_but_is_no_larger_than_what_changed(now, before, words):
    assert formats.rate_change(*now, *before) == words
