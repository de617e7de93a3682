"""The page of the glossary: the words of the document, for members of any workspace."""

import re
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model

from affidavit import CHECKS, REASONS
from tests.read_tables import read_tables
from workspaces.models import Membership

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/glossary"
DOCUMENT = Path(__file__).resolve().parents[3] / "docs/glossary.md"


def test_the_page_and_its_export_have_every_word_of_the_document(browser_client, workspace):
    text, _, of_code = DOCUMENT.read_text().partition("## Words of the code")
    words = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line[:2] == "| "]
    page = browser_client.get(PAGE).content.decode()
    exported = read_tables(browser_client.get(f"{PAGE}.json"))["terms"]
    assert len(exported) >= len(words) - 2  # minus the heads of both tables; some rows have several words
    assert page.count('id="term-') == len(exported)
    assert page.count('<th scope="row">') == len({row["meaning"] for row in exported}) < len(exported)
    assert "is not known in that <a" in page
    assert 'id="term-broken-join"' in page
    assert "| projection |" in of_code  # the document has it, the page does not
    assert 'id="term-projection"' not in page


def test_a_meaning_links_each_other_term_that_it_mentions_once(browser_client, workspace):
    """Only the first mention of a term is a link."""
    page = browser_client.get(PAGE).content.decode()
    outcome_report = 'one request in which an <a href="#term-outcome">outcome</a> was named; an outcome may be reported'
    assert outcome_report in page
    for fragment in set(re.findall('href="#(term-[^"]+)"', page)):
        assert f'id="{fragment}"' in page


def test_the_order_of_checks_stands_beside_the_word_reason(browser_client, workspace):
    page = browser_client.get(PAGE).content.decode()
    assert '<a href="#order-of-checks">' in page.partition('id="term-reason"')[2].partition("</tr>")[0]
    assert 'id="order-of-checks"' in page
    checks = read_tables(browser_client.get(f"{PAGE}.json"))["checks"]
    assert [(check["position"], check["check"]) for check in checks] == list(enumerate(CHECKS, 1))
    assert {slug for check in checks for slug in check["reasons"].split()} == set(REASONS)
    assert checks[3]["reasons"] == "malformed unsupported-version"


def test_code_in_a_meaning_is_code_and_has_no_links(browser_client, workspace):
    page = browser_client.get(PAGE).content.decode()
    assert "<code>report</code>, <code>platform</code> or <code>confirm</code>" in page
    assert "<code>/outcomes/3/outcomeKey</code>" in page
    terms = read_tables(browser_client.get(f"{PAGE}.json"))["terms"]
    assert "what a secret key may do: report, platform or confirm" in {row["meaning"] for row in terms}


def test_the_search_links_to_the_glossary(browser_client, workspace):
    assert PAGE in browser_client.get("/w/lumen-books/production/search", {"q": "glossary"}).content.decode()
    assert PAGE in browser_client.get("/w/lumen-books/production/search", {"q": "help"}).content.decode()


def test_an_explanation_links_to_its_term_and_keeps_the_range(browser_client, workspace):
    page = browser_client.get("/w/lumen-books/production/joins?range=30d").content.decode()
    assert f'href="{PAGE}?range=30d#term-broken-join">Glossary</a>' in page


def test_a_member_of_another_workspace_does_not_find_the_glossary(client, other_workspace, workspace):
    assert client.get(PAGE).status_code == 302
    stranger = get_user_model().objects.create_user("stranger")
    Membership.objects.create(workspace=other_workspace.workspace, user=stranger, role="viewer")
    client.force_login(stranger)
    assert client.get(PAGE).status_code == 404
