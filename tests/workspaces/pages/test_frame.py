"""The frame around every page."""

import re
from pathlib import Path

import brotli
import pytest
from django.contrib.staticfiles import finders
from django.utils import timezone

from hub.local.compressed_static_files import BROTLI_QUALITY
from workspaces.shared_links.links import share_page

ROOT = Path(__file__).resolve().parents[3]
PAGE = "/w/lumen-books/staging/rejections"


@pytest.fixture
def page(browser_client, workspace) -> str:
    return browser_client.get(f"{PAGE}?range=30d&tz=Europe/Berlin").content.decode()


def test_a_page_has_one_heading_a_skip_link_and_a_language(page):
    assert page.count("<h1") == 1
    assert 'href="#main"' in page
    assert '<html lang="en" data-in-zone>' in page


def test_exactly_one_section_is_current(page):
    sections = re.search(r'<nav aria-label="Sections">(.*?)</nav>', page, re.S)[1]
    assert re.findall(r'aria-current="page">\s*([^<]*[^<\s])', sections) == ["Rejections"]


def test_links_to_sections_keep_the_range_and_the_environment(page):
    assert 'href="/w/lumen-books/staging/outcomes?range=30d&amp;tz=Europe%2FBerlin" data-go="o"' in page


@pytest.mark.parametrize(
    ("form", "form_page", "data", "status"),
    [
        ("keys/create", "keys", {"name": "x"}, 200),
        ("shared-links/add", "overview", {"page": "keys", "days": "7"}, 200),
        ("shared-links/add", "overview", {"page": "overview", "days": "7"}, 303),
        ("shared-links/1/revoke", "shared-links", {}, 303),
    ],
)
def test_forms_of_settings_keep_the_range(browser_client, workspace, form, form_page, data, status):
    start = "/w/lumen-books/staging"
    referer = f"http://testserver{start}/{form_page}?range=90d&tz=Europe/Berlin&revoke=1"
    if form.endswith("revoke"):
        production = workspace.workspace.environments.get(name="production")
        link, _ = share_page(production, "overview", "", days=1, actor="ann", now=timezone.now())
        form = f"shared-links/{link.pk}/revoke"
    answer = browser_client.post(f"{start}/{form}", data, headers={"Referer": referer})
    assert answer.status_code == status
    page = answer if status == 200 else browser_client.get(answer["Location"])
    assert f'href="{start}/outcomes?range=90d&amp;tz=Europe%2FBerlin" data-go="o"' in page.content.decode()
    elsewhere = "https://elsewhere.example/w/another/staging/keys?range=90d"
    answer = browser_client.post(f"{start}/{form}", data, headers={"Referer": elsewhere})
    assert "90d" not in answer.content.decode() + answer.get("Location", "")


def test_the_share_menu_links_to_the_list_of_shared_links_in_the_same_range(page):
    assert 'href="/w/lumen-books/staging/shared-links?range=30d&amp;tz=Europe%2FBerlin">All links' in page


def test_the_environment_switch_links_to_the_same_page_in_the_same_range(page):
    assert 'href="/w/lumen-books/production/rejections?range=30d&amp;tz=Europe%2FBerlin"' in page


def test_an_invalid_range_is_reported(browser_client, workspace):
    page = browser_client.get(f"{PAGE}?from=yesterday").content.decode()
    assert "could not be read" in page


def test_every_file_that_the_frame_loads_exists(page):
    loaded = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert loaded == ["icon.svg", "before_paint.js", "site.css", "django_htmx/htmx-2.min.js", "site.js"]
    assert [name for name in loaded if not finders.find(name)] == []


def test_pages_outside_a_workspace_have_no_sections_and_are_not_refreshed(client, db):
    page = client.get("/sign-in").content.decode()
    assert 'aria-label="Sections"' not in page
    assert "data-live" not in page


def test_our_own_files_that_pages_load_are_small():
    names = [*(ROOT / "static/js").rglob("*.js"), *(ROOT / "static/css").rglob("*.css"), ROOT / "static/icon.svg"]
    assert sum(len(brotli.compress(path.read_bytes(), quality=BROTLI_QUALITY)) for path in names) <= 60_000


def test_charts_offer_no_upload_to_another_company():
    text = (ROOT / "static/js/chart.js").read_text()
    assert "showSendToCloud: false" in text
    assert 'plotlyServerURL: ""' in text
    assert "displayModeBar: false" in text
