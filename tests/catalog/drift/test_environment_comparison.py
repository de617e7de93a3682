"""The comparison of environments agrees with the page of each property, and says what it cannot tell."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest

from affidavit import Evidence, infer
from catalog.drift.current_presence import PresenceState, find_current_presence
from catalog.evidence.nodes import list_nodes
from tests.catalog.reports import deliver, observation

PATH = "/orders/{orderId}"
FULL, SHORT = {"id": 1, "note": "x"}, {"id": 1}


def open_page(client: Any, created: Any, page: str, environment: str = "production", **query: str) -> str:
    response = client.get(f"/w/{created.workspace.slug}/{environment}/{page}", query)
    assert response.status_code == 200
    return unescape(" ".join(response.content.decode().split()))


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
    """Return a workspace in which both environments no longer send the note, of which staging had too few calls."""
    observe(api, workspace, "production", (60, FULL), (60, SHORT))
    observe(api, workspace, "staging", (60, FULL), (11, SHORT))
    return workspace


@pytest.mark.django_db
def test_a_difference_is_not_certain_while_the_page_of_the_property_cannot_tell(browser_client, released):
    query = {"method": "GET", "path": PATH, "part": "200", "at": "/note"}
    absent = "absent in the latest 11, not yet counted as gone"
    assert absent in open_page(browser_client, released, "property", "staging", **query)
    (presence,) = load_table(browser_client, released, "property", "presence", "staging", **query)
    (row,) = compare(browser_client, released, "production", "staging")
    assert presence == {"state": "absent-lately", "seen": 60, "of": 71, "absent": 11}
    assert presence == {name: row[f"{name}Against"] for name in presence}
    assert (row["change"], row["certain"], row["state"]) == ("new", False, "no-longer-seen")
    page = open_page(browser_client, released, "difference")
    assert f"in 60 of 71; {absent}" in page
    assert "Deploying staging to production is not known to break anything." in page
    assert "No certain difference; 1 needs more calls to tell." in page
    back = open_page(browser_client, released, "difference", "staging", against="production")
    assert "Deploying production to staging may break 1 field: more calls will tell." in back


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
    """Seven absences in a row of what every fourth call sends come by chance; thirty do not."""
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


@pytest.mark.django_db
def test_a_side_that_is_changing_itself_shows_its_latest_state(api, browser_client, workspace):
    observe(api, workspace, "production", (60, FULL))
    deliver(api, workspace, *[observation(response=body) for body in (FULL, *[SHORT] * 17)])
    observe(api, workspace, "staging", (60, FULL), (3, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["change"], row["certain"], row["breaksFor"]) == ("gone", False, "")
    page = open_page(browser_client, workspace, "difference")
    assert "in 61 of 78, no longer always: 1 of 18 when detected" in page
    assert "absent in the latest 3" in page


@pytest.mark.django_db
def test_a_property_that_only_staging_has_not_sent_lately_is_named_and_not_certain(api, browser_client, workspace):
    """A release was just deployed to staging: waiting for enough calls would hide what it breaks."""
    observe(api, workspace, "production", (60, FULL))
    observe(api, workspace, "staging", (60, FULL), (11, SHORT))
    (row,) = compare(browser_client, workspace, "production", "staging")
    assert (row["pointer"], row["change"], row["certain"]) == ("/note", "gone", False)
    page = open_page(browser_client, workspace, "difference")
    assert "Deploying staging to production may break 1 field: more calls will tell." in page


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
    page = open_page(browser_client, workspace, "difference")
    assert "Deploying staging to production may break 1 operation: more calls will tell." in page
    assert "never called" in page


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
    assert counts == [("production", 1, 1), ("staging", 2, 0)]


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
    assert judge([2, 2], *often * 4) is PresenceState.SEEN  # it was absent for as long before
    assert judge([3, 2], *rarely) is PresenceState.SEEN  # it would hardly have been seen
    assert judge([3, 2, 1], *often * 4) is PresenceState.NO_LONGER_SEEN


def test_a_property_is_absent_with_the_object_around_it():
    bodies = [{"a": {"b": 1}}] * 9
    assert judge([3, 0, 1], *bodies, pointer="/a/b") is PresenceState.NO_LONGER_SEEN
    assert judge([3, 0], *bodies, pointer="/a/b") is PresenceState.ABSENT_LATELY
