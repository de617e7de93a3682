"""The comparison of environments agrees with the page of each property, and says what it cannot tell."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog.drift.environment_comparison import views
from catalog.models import Operation
from tests.catalog.pages import address, compare, load_table, open_page, read_words
from tests.catalog.reports import deliver, observation, observe

PATH = "/orders/{orderId}"
FULL, SHORT = {"id": 1, "note": "x"}, {"id": 1}


@pytest.fixture
def released(api: Any, workspace: Any) -> Any:
    """Return a workspace whose environments both stopped sending `note`. In staging, too few calls show this yet."""
    observe(api, workspace, "production", (60, FULL), (60, SHORT))
    observe(api, workspace, "staging", (60, FULL), (2, SHORT))
    return workspace


@pytest.mark.django_db
def test_a_difference_is_not_certain_while_the_page_of_the_property_cannot_tell(browser_client, released):
    query = {"method": "GET", "path": PATH, "part": "200", "at": "/note"}
    absent = "absent in the latest 2, not yet counted as gone"
    assert absent in open_page(browser_client, released, "property", "staging", **query)
    (presence,) = load_table(browser_client, released, "property", "presence", "staging", **query)
    (row,) = compare(browser_client, released, "production", "staging")
    assert presence == {"state": "absent-lately", "seen": 60, "of": 62, "absent": 2}
    assert presence == {name: row[f"{name}Against"] for name in presence}
    assert (row["change"], row["certain"], row["state"]) == ("new", False, "no-longer-seen")
    page = open_page(browser_client, released, "difference")
    assert f"in 60 of 62; {absent}" in page
    assert "Deploying staging to production is not known to break anything." in page
    assert "1 difference needs more calls to tell." in page
    back = open_page(browser_client, released, "difference", "staging", against="production")
    assert f"Deploying production to staging may break /note of GET {PATH}. 1 difference needs" in read_words(back)


@pytest.mark.django_db
def test_the_difference_is_certain_once_enough_calls_tell(api, browser_client, released):
    observe(api, released, "staging", (2, FULL))
    (row,) = compare(browser_client, released, "staging", "production")
    assert (row["change"], row["certain"]) == ("gone", True)
    observe(api, released, "staging", (60, SHORT))
    assert compare(browser_client, released, "staging", "production") == []


@pytest.mark.django_db
def test_a_property_that_is_always_sent_breaks_its_readers_where_it_is_missing(api, browser_client, workspace):
    observe(api, workspace, "production", (60, FULL), (60, SHORT))
    observe(api, workspace, "staging", (60, FULL))
    (row,) = compare(browser_client, workspace, "staging", "production")
    assert (row["change"], row["certain"], row["breaksFor"]) == ("gone", True, "consumer")
    page = open_page(browser_client, workspace, "difference", "staging", against="production")
    assert "Deploying production to staging would break 1 field for clients of staging." in page


@pytest.mark.django_db
def test_a_property_that_is_not_always_sent_breaks_nobody_where_it_is_missing(api, browser_client, workspace):
    """Every fourth call sends the property. Ten calls in a row without it happen by chance; thirty do not."""
    for environment in ("production", "staging"):
        observe(api, workspace, environment, *[(1, FULL), (3, SHORT)] * 8)
    observe(api, workspace, "staging", (7, SHORT))
    assert compare(browser_client, workspace, "production", "staging") == []
    observe(api, workspace, "staging", (20, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["change"], row["certain"], row["breaksFor"]) == ("gone", False, "")
    assert "Deploying staging to production is not known to break anything." in open_page(
        browser_client, workspace, "difference"
    )


@pytest.mark.django_db
def test_a_property_that_came_late_and_is_always_sent_since_breaks_its_readers(api, browser_client, workspace):
    observe(api, workspace, "production", (60, SHORT), (60, FULL))
    observe(api, workspace, "staging", (60, FULL), (11, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["change"], row["breaksFor"]) == ("gone", "consumer")
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert "string in 60 of 60 since first seen" in words


@pytest.mark.django_db
def test_a_property_that_came_late_and_is_probably_gone_shows_that_it_was_always_sent(api, browser_client, workspace):
    observe(api, workspace, "production", (60, FULL))
    observe(api, workspace, "staging", (60, SHORT), (300, FULL), (11, SHORT))
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert "probably gone not in the latest 11, in all 300 before, since first seen Breaking for consumers" in words


@pytest.mark.django_db
def test_a_side_that_is_changing_itself_shows_its_latest_state(api, browser_client, workspace):
    observe(api, workspace, "production", (60, FULL))
    deliver(api, workspace, *[observation(response=body) for body in (FULL, *[SHORT] * 17)])
    observe(api, workspace, "staging", (60, FULL), (3, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["change"], row["certain"], row["breaksFor"]) == ("gone", False, "")
    page = open_page(browser_client, workspace, "difference")
    assert "in 61 of 78, no longer always: 1 of 18 when detected" in page
    assert "not in the latest 3, in all 60 before" in page


@pytest.mark.django_db
def test_a_property_that_only_staging_has_not_sent_lately_is_named_and_not_certain(api, browser_client, workspace):
    """A release was just deployed to staging. Waiting for more calls would hide for a time what it breaks."""
    observe(api, workspace, "production", (60, FULL))
    observe(api, workspace, "staging", (60, FULL), (11, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["pointer"], row["change"], row["certain"]) == ("/note", "gone", False)
    page = open_page(browser_client, workspace, "difference")
    assert "Deploying staging to production would probably break 1 field for clients of production." in page
    assert "not in the latest 11, in all 60 before" in page
    assert "Breaking for consumers" in page


@pytest.mark.django_db
def test_what_both_have_lost_is_no_difference_though_one_lost_it_too_lately_for_drift(api, browser_client, workspace):
    observe(api, workspace, "production", (60, FULL), (60, SHORT))
    observe(api, workspace, "staging", (346, FULL), (3, SHORT))
    query = {"method": "GET", "path": PATH, "part": "200", "at": "/note"}
    (presence,) = load_table(browser_client, workspace, "property", "presence", "staging", **query)
    assert presence == {"state": "probably-gone", "seen": 346, "of": 349, "absent": 3}
    property_page = open_page(browser_client, workspace, "property", "staging", **query)
    assert "not in the latest 3, in all 346 before" in property_page
    extents = load_table(browser_client, workspace, "difference", "environments")
    counts = {row["environment"]: (row["properties"], row["noLongerSeen"], row["probablyGone"]) for row in extents}
    assert counts == {"production": (1, 1, 0), "staging": (1, 0, 1)}
    page = open_page(browser_client, workspace, "difference")
    assert '<td data-is="No longer seen" class="num">0</td> <td data-is="Probably gone" class="num">1</td>' in page
    for environment, against in (("production", "staging"), ("staging", "production")):
        assert compare(browser_client, workspace, environment, against) == []
        page = open_page(browser_client, workspace, "difference", environment, against=against)
        assert f"<b>No differences</b> between {environment} and {against}." in page
        cells = ("no longer seen", "probably gone too few calls since to be sure")
        row = " ".join(cells if environment == "production" else reversed(cells))
        assert f"GET {PATH} 200 /note {row}" in read_words(page.replace("<wbr>", ""))
        for side in (environment, against):
            assert f'<a href="/w/{workspace.workspace.slug}/{side}/property?method=GET&' in page


@pytest.mark.django_db
def test_what_both_lost_long_ago_is_not_listed_for_ever(api, browser_client, workspace):
    for environment in ("production", "staging"):
        observe(api, workspace, environment, (60, FULL), (60, SHORT))
    assert "Lost by both" not in open_page(browser_client, workspace, "difference")


@pytest.mark.django_db
def test_what_both_lost_is_listed_with_what_drift_reports_of_both(api, browser_client, workspace, monkeypatch):
    for environment in ("production", "staging"):
        observe(api, workspace, environment, (60, FULL | {"old": 1}), (60, FULL))
    observe(api, workspace, "production", (60, SHORT))
    observe(api, workspace, "staging", (300, FULL), (3, SHORT))
    rows = load_table(browser_client, workspace, "difference", "lostByBoth")
    assert [(row["pointer"], row["state"], row["stateAgainst"]) for row in rows] == [
        ("/note", "no-longer-seen", "probably-gone"),
        ("/old", "no-longer-seen", "no-longer-seen"),
    ]
    monkeypatch.setattr(views, "MAX_LOST", 1)
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert "200 /note" in words
    assert "200 /old" not in words
    assert "1 more. The downloads have all of them." in words


@pytest.mark.django_db
def test_the_environments_can_be_swapped_and_chosen_on_the_page(browser_client, released):
    page = open_page(browser_client, released, "difference")
    start = f"/w/{released.workspace.slug}"
    assert f'href="{start}/staging/difference?against=production">Swap<' in page
    assert f'href="{start}/production/operation?method=GET&' in page.partition('id="difference"')[2]


@pytest.mark.django_db
def test_what_is_inside_a_property_that_is_probably_gone_is_not_counted_as_sent(api, browser_client, workspace):
    observe(api, workspace, "production", (60, {"id": 1, "author": {"name": "x"}}), (11, SHORT))
    (row, _) = load_table(browser_client, workspace, "difference", "environments")
    assert (row["properties"], row["noLongerSeen"], row["probablyGone"]) == (1, 0, 2)


@pytest.mark.django_db
def test_a_property_of_one_call_shows_what_its_impact_counts_and_is_not_in_the_headline(api, browser_client, workspace):
    """The impact counts only calls since the property was first seen. It was in all of these: in 1 of 1."""
    observe(api, workspace, "production", (60, SHORT), (1, FULL))
    observe(api, workspace, "staging", (60, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["change"], row["certain"], row["breaksFor"]) == ("gone", False, "consumer")
    assert (row["seen"], row["of"]) == (1, 61)
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert "string in 1 of 1 since first seen, too rare to tell" in words
    assert "never seen in 60 " in words
    assert "May break consumers" in words
    assert "Not certain" not in words
    assert "is not known to break anything. 1 difference needs more calls to tell and may break" in words
    assert "A missing property is compatible if it was not always present since it was first seen" in words


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("calls", "against", "certain"), [(60, 1, False), (1, 60, False), (60, 3, True), (3, 60, True)]
)
def test_a_difference_of_one_call_is_not_certain(api, browser_client, workspace, calls, against, certain):
    observe(api, workspace, "production", (calls, FULL))
    observe(api, workspace, "staging", (against, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["pointer"], row["breaksFor"], row["certain"]) == ("/note", "consumer", certain)
    assert (
        "<b> Deploying staging to production would break" in open_page(browser_client, workspace, "difference")
    ) is certain


@pytest.mark.django_db
def test_the_page_begins_with_the_fields_that_are_gone_and_names_the_first(api, browser_client, workspace):
    get = observation("GET", "/a", 200, response=SHORT)
    for environment in ("production", "staging"):
        deliver(api, workspace, *[get] * 60, environment=environment)
    deliver(api, workspace, *[observation("GET", "/a", 403, response={"x": 1})] * 60, environment="staging")
    observe(api, workspace, "production", (60, FULL | {"pages": 1, "rare": 1}))
    observe(api, workspace, "staging", (60, {"id": 1, "rare": 1}), (2, SHORT))
    page = open_page(browser_client, workspace, "difference")
    rows = page.partition('id="difference"')[2].partition("<tbody>")[2]
    places = [rows.index(f"<code>{pointer}</code>") for pointer in ("/note", "/pages", "/rare")]
    assert places == sorted(places)
    assert places[-1] < rows.index("403")
    words = read_words(page)
    assert f"would break 2 fields for clients of production. The first is /note of GET {PATH}. 3 certain" in words
    assert "3 certain differences. 1 more needs more calls to tell and may break" in words


@pytest.mark.django_db
def test_a_property_that_only_one_side_no_longer_always_sends_breaks_its_readers_as_drift_says(
    api, browser_client, workspace
):
    for environment in ("production", "staging"):
        observe(api, workspace, environment, (60, FULL))
    assert compare(browser_client, workspace, "production", "staging") == []
    deliver(api, workspace, *[observation(response=body) for body in [FULL] * 3 + [SHORT] * 11], environment="staging")
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert [row[name] for name in ("change", "before", "after", "breaksFor", "certain")] == [
        "optional", "always", "in 3 of 14", "consumer", True,
    ]  # fmt: skip
    page = open_page(browser_client, workspace, "difference")
    assert "Deploying staging to production would break 1 field for clients of production." in page
    assert "in 3 of 14 when detected" in page
    (row,) = compare(browser_client, workspace, "staging", "production")
    assert (row["change"], row["before"], row["after"]) == ("optional", "in 3 of 14", "always")
    assert row["breaksFor"] == ""


@pytest.mark.django_db
def test_what_both_no_longer_always_send_is_no_difference(api, browser_client, workspace):
    for environment in ("production", "staging"):
        observe(api, workspace, environment, (60, FULL))
        bodies = [observation(response=body) for body in (FULL, SHORT, FULL)]
        deliver(api, workspace, *bodies, environment=environment)
    assert compare(browser_client, workspace, "production", "staging") == []


@pytest.mark.django_db
@pytest.mark.parametrize(("calls", "certain"), [(10, False), (40, True)])
def test_an_optional_property_is_only_missing_for_certain_after_enough_calls(
    api, browser_client, workspace, calls, certain
):
    deliver(api, workspace, *[observation(response=body) for body in [FULL, *[SHORT] * 9] * 3])
    observe(api, workspace, "staging", (calls, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["certain"], row["seen"], row["of"], row["ofAgainst"]) == (certain, 3, 30, calls)
    page = open_page(browser_client, workspace, "difference")
    assert (f"never seen in {calls}, too few calls to tell" in page) is not certain


@pytest.mark.django_db
def test_an_operation_that_was_never_called_may_exist(api, browser_client, workspace):
    observe(api, workspace, "production", (3, SHORT))
    observe(api, workspace, "staging", (3, SHORT))
    deliver(api, workspace, observation("DELETE", PATH, 204))
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert f"Deploying staging to production may break DELETE {PATH}." in words
    assert "never called" in words


@pytest.mark.django_db
def test_a_new_property_of_a_request_that_is_optional_breaks_nobody(api, browser_client, workspace):
    deliver(api, workspace, *[observation("POST", PATH, request=SHORT)] * 30)
    bodies = [observation("POST", PATH, request=body) for body in (FULL, SHORT)] * 10
    deliver(api, workspace, *bodies, environment="staging")
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["pointer"], row["change"], row["breaksFor"]) == ("/note", "new", "")


@pytest.mark.django_db
def test_the_counted_properties_are_those_that_the_differences_compare(browser_client, released):
    rows = load_table(browser_client, released, "difference", "environments")
    counts = [(row["environment"], row["properties"], row["noLongerSeen"]) for row in rows]
    assert counts == [("production", 1, 1), ("staging", 2, 0)]  # a property that is only absent lately counts


@pytest.mark.django_db
def test_each_side_of_a_difference_leads_to_the_property_and_other_pages_lead_here(browser_client, released):
    page = open_page(browser_client, released, "difference")
    for environment in ("production", "staging"):
        start = f"/w/{released.workspace.slug}/{environment}"
        assert f'href="{start}/property?method=GET&path=%2Forders%2F%7BorderId%7D&part=200&at=%2Fnote"' in page
    for other in ("drift", "catalog", "overview"):
        link = f'href="/w/{released.workspace.slug}/production/difference"'
        assert link in open_page(browser_client, released, other), other


@pytest.mark.django_db
def test_a_property_is_not_missed_in_calls_before_it_began(api, browser_client, workspace):
    observe(api, workspace, "production", (60, SHORT))
    observe(api, workspace, "staging", (300, SHORT), (5, FULL))
    Operation.objects.filter(environment__name="production").update(last_seen_at=timezone.now() - timedelta(minutes=5))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["pointer"], row["change"], row["certain"]) == ("/note", "new", False)
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert re.search(r"never seen in 60: no call since /note was detected \( \w{3} \d+ \w{3}, \d\d:\d\d\)", words)
    assert "in 5 of 5 since first seen" in words
    assert "too few calls" not in words
    back = read_words(open_page(browser_client, workspace, "difference", "staging", against="production"))
    assert f"Deploying production to staging may break /note of GET {PATH}. 1 difference needs" in back
    observe(api, workspace, "production", (3, SHORT))
    Operation.objects.filter(environment__name="production").update(last_seen_at=timezone.now() + timedelta(minutes=5))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["pointer"], row["certain"]) == ("/note", True)


@pytest.mark.django_db
def test_what_may_break_is_named_or_counted_if_it_is_much(api, browser_client, workspace):
    for environment in ("production", "staging"):
        observe(api, workspace, environment, (3, SHORT))
    deliver(api, workspace, observation("GET", "/a"), environment="production")
    words = read_words(open_page(browser_client, workspace, "difference"))
    assert "Deploying staging to production may break GET /a. 1 difference needs more calls" in words
    for name in "bcd":
        deliver(api, workspace, observation("GET", f"/{name}"), environment="production")
    assert "may break 4 operations." in read_words(open_page(browser_client, workspace, "difference"))


@pytest.mark.django_db
def test_the_difference_lists_what_would_change_from_this_environment_to_the_other(
    api, browser_client, drifted_workspace
):
    deliver(
        api,
        drifted_workspace,
        *[observation(path="/orders/{id}", response={"id": "x"})] * 3,
        observation("PUT", "/new", 200),
        environment="staging",
    )
    differences = load_table(browser_client, drifted_workspace, "difference", "difference", against="staging")
    assert [(row["method"], row["path"], row["part"], row["pointer"], row["change"]) for row in differences] == [
        ("GET", "/health", "operation", "", "gone"),
        ("PUT", "/new", "operation", "", "new"),
        ("GET", PATH, "path", "/id", "renamed"),
        ("GET", PATH, "200", "/id", "type"),
        ("GET", PATH, "200", "/note", "gone"),
        ("GET", PATH, "200", "/total", "gone"),
    ]
    page = open_page(browser_client, drifted_workspace, "difference", against="staging")
    assert "<b> Deploying staging to production would break 1 field for clients of production. </b>" in page
    assert "3 certain differences. 3 more need more calls to tell, 2 of them may break clients, too." in page


@pytest.mark.django_db
def test_a_property_that_is_no_longer_seen_is_missing_in_the_difference(api, browser_client, workspace):
    line = {"lines": [{"price": 1, "note": "x"}]}
    for environment in ("production", "staging"):
        deliver(api, workspace, *[observation(response={"id": 1, **line}, count=1)] * 30, environment=environment)
    assert load_table(browser_client, workspace, "difference", "difference") == []
    deliver(api, workspace, *[observation(response={"id": 1, "lines": [{"price": 1}]}, count=1)] * 30)
    (row,) = load_table(browser_client, workspace, "difference", "difference", against="staging")
    assert (row["part"], row["pointer"], row["change"]) == ("200", "/lines/[]/note", "new")
    back = f"/w/{workspace.workspace.slug}/staging/difference.json"
    (row,) = json.loads(browser_client.get(back, {"against": "production"}).getvalue())["tables"]["difference"]
    assert (row["part"], row["pointer"], row["change"]) == ("200", "/lines/[]/note", "gone")
    deliver(api, workspace, *[observation(response={"id": 1}, count=1)] * 30, environment="staging")
    deliver(api, workspace, *[observation(response={"id": 1}, count=1)] * 30)
    assert load_table(browser_client, workspace, "difference", "difference") == []


@pytest.mark.django_db
def test_the_difference_names_the_types_of_a_mixed_field(api, browser_client, workspace):
    deliver(api, workspace, *(observation(response={"placedAt": value}) for value in (1, "x")))
    deliver(api, workspace, observation(response={"placedAt": 1}), environment="staging")
    (row,) = load_table(browser_client, workspace, "difference", "difference", against="staging")
    assert (row["pointer"], row["before"], row["after"]) == ("/placedAt", "integer or string", "integer")


@pytest.mark.django_db
def test_two_environments_with_the_same_shapes_do_not_differ(api, browser_client, workspace):
    for environment, count in (("production", 3), ("staging", 1)):
        deliver(api, workspace, observation(response={"id": 1}, count=count), environment=environment)
    assert load_table(browser_client, workspace, "difference", "difference") == []
    page = open_page(browser_client, workspace, "difference", against="nowhere")
    assert "<b>No differences</b> between production and staging." in page
    for environment in ("production", "staging"):
        row = page.partition(f'<th scope="row">{environment}</th>')[2].partition("</tr>")[0]
        assert re.findall(r'class="num">(\d+)<', row) == ["1", "1", "0", "0"]
        assert row.count("<time ") == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("observed", "unobserved"),
    [(["production"], "staging"), (["staging"], "production"), ([], "production and staging")],
)
def test_an_environment_that_observed_nothing_is_not_compared(api, browser_client, workspace, observed, unobserved):
    for environment in observed:
        deliver(api, workspace, observation(response={"id": 1}), environment=environment)
    page = open_page(browser_client, workspace, "difference", against="staging")
    assert "Nothing observed yet" in page
    assert f"No operations have been observed in {unobserved}." in page
    assert "No differences" not in page
    assert "in all" not in page
    assert load_table(browser_client, workspace, "difference", "difference", against="staging") == []


@pytest.mark.django_db
def test_a_comparison_with_an_unobserved_environment_leads_to_its_first_observation(browser_client, workspace):
    page = browser_client.get(address(workspace, "difference")).content.decode()
    assert f'href="{address(workspace, "catalog")}">production</a>' in page
