"""A page names the values of its address that it ignores, and an export refuses them."""

import re

import pytest

from tests.catalog.reports import deliver, observation
from tests.page_text import read_html, read_unescaped_html
from tests.reload_workspace import reload_workspace

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/outcomes"
UNKNOWN = {
    "catalog": ("status=9xx", "show=everything", "sort=name"),
    "drift": ("kind=vanished", "breaking=false", "new=0"),
    "difference": ("against=nowhere", "against=production"),
    "operation": ("before=8&after=99", "before=x", "show=all", "as=shown"),
    "outcomes": ("compare=nowhere", "compare=production", "keys=some", "rank=first", "rank=101", "lost=2", "lost=x"),
    "outcome": ("compare=nowhere",),
    "joins": ("why=no-reason", "why=late"),
    "rejections": ("reason=no-such-reason", "version=7"),
    "confirmations": ("state=forgotten",),
    "audit": ("kind=no-kind",),
    "refused-requests": ("by=gak_nowhere0",),
    "deliveries": ("state=lost", "target=ops"),
}
KNOWN = {
    "catalog": ("status=4XX", "status=404&show=new&sort=last", "status=&show=", "method=NONE"),
    "drift": ("kind=gone", "breaking=1&new=1", "breaking=no"),
    "difference": ("against=staging",),
    "operation": ("before=1&after=1", "before=1", "after=1&before=", "show=unknown", "as=reported"),
    "outcomes": ("compare=staging", "compare=none", "keys=all", "rank=6", "step=a&step=b&lost=2"),
    "outcome": ("compare=staging",),
    "joins": ("why=other-environment",),
    "rejections": ("reason=expired&version=2", "operation=GET+/nowhere"),
    "confirmations": ("state=pending",),
    "audit": ("kind=all",),
    "deliveries": ("state=dead", "target=17"),
}


@pytest.fixture(scope="module")
def filled_workspace(module_workspace, connect):
    """Return a workspace with one operation."""
    deliver(connect(module_workspace), module_workspace, observation(path="/books"))
    return module_workspace


@pytest.fixture
def workspace(filled_workspace):
    return reload_workspace(filled_workspace)


def list_queries(queries):
    return [(page, query) for page, of_page in queries.items() for query in of_page]


@pytest.fixture
def address_of(workspace):
    """Return a function that returns the address of a page. The page `operation` shows the only operation."""

    def build_address(page, query):
        subject = "method=GET&path=/books&" if page == "operation" else ""
        return f"/w/{workspace.workspace.slug}/production/{page}?{subject}{query}"

    return build_address


@pytest.mark.parametrize(("page", "query"), list_queries(UNKNOWN))
def test_a_value_that_a_filter_does_not_take_is_named_by_the_page_and_refused_in_an_export(
    browser_client, address_of, page, query
):
    address = address_of(page, query)
    html = read_unescaped_html(browser_client.get(address))
    words = f"This page does not know {query.replace('&', ', ')}"
    assert f"{words}, and ignores {'them' if '&' in query else 'it'}." in html
    assert address.replace("?", ".json?", 1) not in html  # the links to downloads leave the query out
    for ending in (".json", ".csv"):
        response = browser_client.get(address.replace("?", f"{ending}?", 1))
        assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
        assert words in response.json()["detail"]


@pytest.mark.parametrize(("page", "query"), list_queries(KNOWN))
def test_a_value_that_a_filter_takes_is_not_reported_as_unknown(browser_client, address_of, page, query):
    address = address_of(page, query)
    assert "This page does not know" not in browser_client.get(address).content.decode()
    assert browser_client.get(address.replace("?", ".json?", 1)).status_code == 200


@pytest.mark.parametrize(("page", "member"), [(page, query.partition("=")[0]) for page, query in list_queries(UNKNOWN)])
def test_a_nul_in_the_value_of_a_filter_is_left_out(browser_client, address_of, page, member):
    address = address_of(page, f"{member}=%00nowhere%00")
    html = read_unescaped_html(browser_client.get(address))
    assert f"This page does not know {member}=nowhere, and ignores it." in html
    assert browser_client.get(address.replace("?", ".json?", 1)).status_code == 400
    assert browser_client.get(address_of(page, f"{member}=%00")).status_code == 200


def test_a_long_unknown_value_is_cut_and_escaped(browser_client, address_of):
    html = read_html(browser_client.get(address_of("catalog", f"show=<b>{'x' * 500}")))
    assert re.search(r"This page does not know show=&lt;b&gt;x{56}…, and ignores it\.", html)


def test_values_beyond_those_that_a_page_takes_are_not_cut_silently(browser_client, workspace):
    query = "&".join([*(f"show={key}" for key in "abcdefghi"), "show=a", *(f"step={key}" for key in "abcd")])
    html = read_unescaped_html(browser_client.get(f"{PAGE}?{query}&step=e"))
    words = "This page takes at most 8 values of show and 4 values of step."
    assert f"{words} It ignores the others." in html
    for ending in (".json", ".csv"):
        response = browser_client.get(f"{PAGE}{ending}?{query}&step=e")
        assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
        assert words in response.json()["detail"]
        assert "at most 8 values of show." in browser_client.get(f"{PAGE}{ending}?{query}").json()["detail"]
        assert browser_client.get(f"{PAGE}{ending}?{query.replace('show=i', 'show=a')}").status_code == 200


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("outcomes", "range=24h&range=30d"),
        ("overview", "tz=UTC&tz=Europe/Berlin"),
        ("joins", "why=altered&why=placeholder"),
        ("catalog", "q=books&q=orders"),
    ],
)
def test_a_filter_that_is_sent_twice_is_not_cut_silently(browser_client, address_of, page, query):
    member = query.partition("=")[0]
    words = f"This page takes at most 1 value of {member}."
    html = read_unescaped_html(browser_client.get(address_of(page, query)))
    assert f"{words} It ignores the others." in html
    for ending in (".json", ".csv"):
        address = address_of(page, query).replace("?", f"{ending}?", 1)
        response = browser_client.get(address)
        assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
        assert f"{words} Leave out the others." in response.json()["detail"]
        last = query.rpartition("&")[2]
        assert browser_client.get(address_of(page, f"{last}&{last}").replace("?", f"{ending}?", 1)).status_code == 200


@pytest.mark.parametrize(("page", "member"), [("catalog", "q"), ("drift", "q"), ("operation", "find")])
def test_words_beyond_those_that_a_search_takes_are_not_cut_silently(browser_client, address_of, page, member):
    address = address_of(page, f"{member}=books+b+c+d+e+f+g+h+i+j+k")
    words = f"This page takes at most 10 words of {member}."
    for headers in ({}, {"hx-request": "true"}):  # also as the search is typed, when the list alone is sent
        html = browser_client.get(address, headers=headers).content.decode()
        assert html.count(f"{words} It ignores the others.") == 1
    refused = browser_client.get(address.replace("?", ".json?", 1))
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid-request")
    assert words in refused.json()["detail"]
    assert browser_client.get(address.replace("?", ".json?", 1).removesuffix("+k")).status_code == 200
