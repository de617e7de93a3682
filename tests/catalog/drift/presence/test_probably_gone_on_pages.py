"""Every page says that a property is probably gone while drift does not report it yet. All name the same properties."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from catalog.drift import views
from catalog.drift.presence.current_presence import list_perhaps_absent, list_perhaps_gone
from catalog.drift.presence.load_absent import HasLongAbsence
from catalog.drift.presence.load_probably_gone import list_probably_gone
from catalog.drift.presence.probably_gone_rule import LEAST
from catalog.models import Drift, OperationPart
from tests.catalog.reports import deliver, environment_of, observation
from tests.page_text import read_unescaped_html

pytestmark = pytest.mark.django_db
BOOK = "/books/{bookId}"
WORDS = "not in the latest 17, in all 60 before"


def observe(api: Any, created: Any, path: str, *bodies: tuple[int, Any], **members: Any) -> None:
    for count, body in bodies:
        deliver(api, created, *[observation("GET", path, response=body, **members)] * count)


@pytest.fixture
def renamed(api: Any, workspace: Any) -> Any:
    """Return a workspace in which a release renamed /pages of a book. Too few calls followed for drift to report it."""
    observe(api, workspace, BOOK, (60, {"id": 1, "pages": 9}), (17, {"id": 1, "pageCount": 9}))
    observe(api, workspace, "/authors", (60, {"id": 1}))
    return workspace


def open_page(client: Any, created: Any, page: str, **query: Any) -> str:
    response = client.get(f"/w/{created.workspace.slug}/production/{page}", query)
    assert response.status_code == 200
    return read_unescaped_html(response)


def load_table(client: Any, created: Any, page: str, table: str, **query: str) -> list[dict[str, Any]]:
    response = client.get(f"/w/{created.workspace.slug}/production/{page}.json", query)
    return json.loads(response.getvalue())["tables"][table]


def test_the_tree_of_the_operation_marks_it(browser_client, renamed):
    page = open_page(browser_client, renamed, "operation", method="GET", path=BOOK)
    assert f'<span class="tag bad">probably gone</span> <span class="soft"> {WORDS} </span>' in page
    assert page.count("probably gone</span>") == 1
    assert "last seen " in page.partition("probably gone</span>")[2].partition("pageCount")[0]


def test_of_an_object_that_is_probably_gone_only_itself_is_marked(api, browser_client, workspace):
    observe(api, workspace, BOOK, (60, {"id": 1, "size": {"pages": 9}}), (17, {"id": 1}))
    page = open_page(browser_client, workspace, "operation", method="GET", path=BOOK)
    assert page.count("probably gone</span>") == 1
    (row,) = load_table(browser_client, workspace, "drift", "probablyGone")
    assert row["pointer"] == "/size"
    observe(api, workspace, BOOK, (1, {"id": 1, "size": {"pages": 9}}))
    assert "probably gone</span>" not in open_page(browser_client, workspace, "operation", method="GET", path=BOOK)


def test_the_catalog_counts_it(browser_client, renamed):
    page = open_page(browser_client, renamed, "catalog")
    cells = re.findall(r'data-is="Properties" class="num">(.*?)</td>', page)
    assert [" ".join(re.sub(r"<.*?>", "", cell).split()) for cell in cells] == ["1", "2 1 probably gone"]
    rows = load_table(browser_client, renamed, "catalog", "operations")
    assert [(row["path"], row["probablyGone"]) for row in rows] == [("/authors", 0), (BOOK, 1)]
    assert rows[1]["properties"] == 2


def test_drift_lists_what_it_cannot_report_yet(browser_client, renamed):
    page = open_page(browser_client, renamed, "drift")
    card = page[page.index('id="probably-gone"') : page.index('id="changes"')]
    assert "Probably gone, too few calls to report it as drift yet" in card
    assert WORDS in card
    assert "at=%2Fpages" in card
    assert re.search(r"perhaps <a [^>]*at=%2FpageCount[^>]*> ?<code>/pageCount</code></a> now", card)
    assert load_table(browser_client, renamed, "drift", "probablyGone") == [
        {
            "method": "GET", "path": BOOK, "part": "200", "pointer": "/pages", "seen": 60, "of": 77, "absent": 17,
            "successor": "/pageCount",
        }
    ]  # fmt: skip


def test_what_drift_reports_is_listed_no_more(api, browser_client, renamed):
    observe(api, renamed, BOOK, (30, {"id": 1, "pageCount": 9}))
    assert Drift.objects.filter(kind="quiet", pointer="/pages").exists()
    assert "probably gone" not in open_page(browser_client, renamed, "drift").lower()
    assert load_table(browser_client, renamed, "drift", "probablyGone") == []
    assert "probably gone" not in open_page(browser_client, renamed, "overview")


def test_a_period_without_observations_of_the_operation_lists_nothing(api, browser_client, workspace):
    then = 1_790_000_000
    observe(api, workspace, BOOK, (60, {"id": 1, "pages": 9}), (17, {"id": 1}), lastSeenAt=then)
    assert len(load_table(browser_client, workspace, "drift", "probablyGone", range="all")) == 1
    assert load_table(browser_client, workspace, "drift", "probablyGone", range="24h") == []
    past = {"from": "2026-09-01", "to": "2026-10-02"}
    assert load_table(browser_client, workspace, "drift", "probablyGone", **past) == []
    assert "probably gone" not in open_page(browser_client, workspace, "overview", **past)


def test_a_long_list_is_cut_on_the_page_and_whole_in_the_download(api, browser_client, workspace, monkeypatch):
    full = {"id": 1, "pages": 9, "size": "x", "title": "x"}
    observe(api, workspace, BOOK, (60, full), (17, {"id": 1}))
    monkeypatch.setattr(views, "MAX_PROBABLY_GONE", 2)
    page = open_page(browser_client, workspace, "drift")
    assert page.count(WORDS) == 2
    assert "and 1 more" in page
    assert len(load_table(browser_client, workspace, "drift", "probablyGone")) == 3


def test_the_overview_names_it_once(browser_client, renamed):
    page = open_page(browser_client, renamed, "overview")
    attention = page[page.index('aria-label="What needs attention"') : page.index("</section>")]
    text = " ".join(re.sub(r"<.*?>", "", page[page.index("What needs attention") :]).split())
    assert "1 field is probably gone: GET /books/{bookId} 200 /pages." in text
    assert '<b class="bad">' not in attention
    assert "No broken joins, no rise of rejections and no breaking change" not in page


def test_the_overview_does_not_name_a_field_again_of_which_drift_says_that_it_broke(api, browser_client, workspace):
    """Drift already reports that the field is no longer always sent, so the overview lists it as broken."""
    observe(api, workspace, BOOK, (60, {"id": 1, "pages": 9}))
    deliver(api, workspace, *[observation("GET", BOOK, response=body) for body in ({"id": 1, "pages": 9}, {"id": 1})])
    observe(api, workspace, BOOK, (10, {"id": 1}))
    assert Drift.objects.filter(kind="optional", pointer="/pages").exists()
    assert [row["pointer"] for row in load_table(browser_client, workspace, "drift", "probablyGone")] == ["/pages"]
    assert "probably gone" not in open_page(browser_client, workspace, "overview")


def test_the_page_of_the_new_property_says_what_it_perhaps_replaces(api, browser_client, renamed):
    new = Drift.objects.get(kind="new", pointer="/pageCount")
    page = open_page(browser_client, renamed, "change", id=new.pk)
    link = r"perhaps instead of <a [^>]*at=%2Fpages[^>]*> ?<code>/pages</code></a>"
    assert re.search(f"{link}, which is probably gone", page)
    assert WORDS in page
    assert "Nothing has to be done" not in page
    assert "Consumers that read <code>/pages</code> probably no longer get it." in page
    observe(api, renamed, BOOK, (30, {"id": 1, "pageCount": 9}))
    page = open_page(browser_client, renamed, "change", id=new.pk)
    assert re.search(f"{link}, which is no longer seen", page)
    assert "Nothing has to be done" not in page
    assert "Consumers that read <code>/pages</code> no longer get it." in page


def test_the_pages_of_both_properties_lead_to_each_other(browser_client, renamed):
    for name, words, other in (("pages", "perhaps", "pageCount"), ("pageCount", "perhaps instead of", "pages")):
        page = open_page(browser_client, renamed, "property", method="GET", path=BOOK, part="200", at=f"/{name}")
        assert re.search(rf'{words} <a [^>]*at=%2F{other}"> ?<code>/{other}</code></a>', page), name


def test_a_new_property_that_replaces_nothing_needs_no_action(api, browser_client, workspace):
    observe(api, workspace, BOOK, (60, {"id": 1, "pages": 9}), (17, {"id": 1, "pages": 9, "pageCount": 9}))
    new = Drift.objects.get(kind="new", pointer="/pageCount")
    page = open_page(browser_client, workspace, "change", id=new.pk)
    assert "Nothing has to be done" in page
    assert "instead of" not in page


def test_the_database_finds_the_counters_that_the_rule_looks_at(api, workspace):
    """The database also finds counters in shorter arrays, which were stored when an absence had fewer members."""
    observe(api, workspace, BOOK, (1, {"id": 1}))
    part = OperationPart.objects.get()
    counters = [*itertools.product(range(5), range(5)), (10, 9), (9, 10), (100, 20)]
    states = [
        {'/~2] "a': [0, 3, 0, "", 0, 0], "/b": [*counter, 0, "", 0, 0][:members]}
        for members in (2, 4, 6)
        for counter in counters
    ]
    states += [{}, {"/c": [7, 2, 1, "d", 0, 0]}]
    part.delete()
    OperationPart.objects.bulk_create(
        OperationPart(environment=part.environment, operation=part.operation, part="response", status=status,
                      evidence=part.evidence, absences=state)
        for status, state in enumerate(states)
    )  # fmt: skip
    for least, is_candidate in ((LEAST, list_perhaps_gone), (1, list_perhaps_absent)):
        statuses = OperationPart.objects.filter(HasLongAbsence(least)).values_list("status", flat=True)
        candidates = {status for status, state in enumerate(states) if any(is_candidate(state))}
        assert {*statuses} == candidates | {len(states) - 1}  # the absence in the last state is reported already


def test_operations_without_such_counters_are_not_read(api, workspace, renamed, django_assert_num_queries):
    environment = environment_of(workspace)
    observe(api, workspace, BOOK, (1, {"id": 1, "pages": 9}))
    with django_assert_num_queries(1):
        assert list(list_probably_gone(environment)) == []
