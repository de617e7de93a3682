"""The comparison of environments agrees with the page of each property, and says what it cannot tell."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, infer
from catalog.drift.environments import views
from catalog.drift.presence.absence_counters import Absence
from catalog.drift.presence.current_presence import PresenceState, find_current_presence
from catalog.drift.presence.probably_gone_rule import CHANCE, LEAST, is_probably_gone, is_unusual
from catalog.evidence.nodes import list_nodes
from catalog.models import Operation
from tests.catalog.reports import deliver, observation
from wire.significance import chance_of_run

PATH = "/orders/{orderId}"
FULL, SHORT = {"id": 1, "note": "x"}, {"id": 1}


def open_page(client: Any, created: Any, page: str, environment: str = "production", **query: str) -> str:
    response = client.get(f"/w/{created.workspace.slug}/{environment}/{page}", query)
    assert response.status_code == 200
    return unescape(" ".join(response.content.decode().split()))


def read_words(page: str) -> str:
    """Return the text of a page without its tags."""
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    return re.sub(r" ([,.;)])", r"\1", words)


def load_table(
    client: Any, created: Any, page: str, table: str, environment: str = "production", **query: str
) -> list[dict[str, Any]]:
    response = client.get(f"/w/{created.workspace.slug}/{environment}/{page}.json", query)
    return json.loads(response.getvalue())["tables"][table]


def compare(client: Any, created: Any, environment: str, against: str) -> list[dict[str, Any]]:
    return load_table(client, created, "difference", "difference", environment, against=against)


def observe(api: Any, created: Any, environment: str, *bodies: tuple[int, Any]) -> None:
    for count, body in bodies:
        deliver(api, created, *[observation(response=body)] * count, environment=environment)


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


def judge(absence: list[Any], *bodies: Any, pointer: str = "/a") -> PresenceState:
    evidence = Evidence()
    for body in bodies:
        evidence.add(infer(body))
    nodes = {node.pointer: node for node in list_nodes(evidence, observations=len(bodies))}
    return find_current_presence({"/a": absence}, nodes, pointer).state


def test_an_absence_that_is_usual_for_a_property_leaves_it_as_seen():
    often, rarely = [{"a": {"b": 1}}, {}], [{"a": 1}, *[{}] * 9]
    assert judge([0], *often) is PresenceState.SEEN
    assert judge([3, 2], *often * 4) is PresenceState.ABSENT_LATELY
    assert judge([2, 2], *often * 4) is PresenceState.SEEN  # an earlier absence was as long
    assert judge([3, 2], *rarely) is PresenceState.SEEN  # so rare that its absence means nothing
    assert judge([3, 2, 1], *often * 4) is PresenceState.NO_LONGER_SEEN


def test_a_property_is_absent_with_the_object_around_it():
    bodies = [{"a": {"b": 1}}] * 9
    assert judge([3, 0, 1], *bodies, pointer="/a/b") is PresenceState.NO_LONGER_SEEN
    assert judge([3, 0], *bodies, pointer="/a/b") is PresenceState.ABSENT_LATELY


@given(st.integers(1, 400), st.integers(1, 40))
def test_whether_a_property_that_was_always_present_is_gone_is_judged_by_chance(present, absent):
    """After three hundred objects with the property, three without it are enough. Two are never enough."""
    objects = present + absent
    is_gone = is_probably_gone(Absence(absent), present, objects)
    assert is_gone is (absent >= LEAST and chance_of_run(absent, present, objects) < CHANCE)
    if is_gone:
        assert is_probably_gone(Absence(absent + 1), present, objects + 1)
        assert is_unusual(Absence(absent), present, objects)
        assert not is_probably_gone(Absence(absent, longest=absent), present, objects)


@pytest.mark.parametrize(
    ("present", "absent", "is_gone"), [(300, 3, True), (300, 2, False), (5, 3, False), (346, 16, True)]
)
def test_how_many_absences_are_enough(present, absent, is_gone):
    assert is_probably_gone(Absence(absent), present, present + absent) is is_gone


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
def test_catalog_operation_and_comparison_count_the_same_properties(api, browser_client, workspace):
    whole = {"id": 1, "note": "x", "author": {"name": "x"}}
    observe(api, workspace, "production", (60, {**whole, "old": 1}), (60, whole), (11, {"id": 1, "note": "x"}))
    observe(api, workspace, "staging", (3, whole))
    (row,) = load_table(browser_client, workspace, "catalog", "operations")
    (extent, _) = load_table(browser_client, workspace, "difference", "environments")
    columns = ("properties", "noLongerSeen", "probablyGone")
    assert [row[name] for name in columns] == [extent[name] for name in columns] == [2, 1, 2]
    catalog = read_words(open_page(browser_client, workspace, "catalog", sort="properties"))
    assert "2 1 no longer seen 2 probably gone" in catalog
    operation = read_words(open_page(browser_client, workspace, "operation", method="GET", path=PATH))
    assert "Properties 2 1 no longer seen 2 probably gone" in operation
