"""Shared links, as seen by somebody without an account and by an attacker."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import product

import pytest
from django.test import Client
from django.utils import timezone

from tests.catalog.reports import environment_of
from tests.page_queries import list_page_names
from tests.reload_workspace import reload_workspace
from tests.sample_data import fill_workspace
from tests.sign_in import sign_in_as
from workspaces.models import AuditEntry, Membership, SharedLink
from workspaces.pages.routes import SHAREABLE_PAGES
from workspaces.shared_links.links import revoke_link, share_page
from workspaces.shared_links.prune import delete_expired_links

SHAREABLE = ("catalog", "drift", "joins", "outcome", "outcomes", "overview", "rejections")
LIST = "/w/lumen-books/production/shared-links"
# Text of sample_data that strangers must not see: ids of conversations and calls, keys, names of people
PRIVATE = re.compile(r"conv_|stage_|call_|undefined|gak_|test-operator|csrfmiddlewaretoken|session")
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def filled_workspace(module_workspace, connect):
    """Return a workspace with something on every page."""
    fill_workspace(module_workspace, connect(module_workspace))
    return module_workspace


@pytest.fixture
def workspace(filled_workspace):
    return reload_workspace(filled_workspace)


@pytest.fixture
def stranger():
    return Client(raise_request_exception=False)


def read(client, address, **options):
    """Return the text of the answer without ages, which change by themselves."""
    return re.sub(r">[^<]*</time>", "></time>", client.get(address, **options).content.decode())


def share(environment, page="outcomes", query="", days=7, now=None):
    _, token = share_page(environment, page, query, days=days, actor="ann", now=now or timezone.now())
    return f"/shared/{token}"


def test_only_these_pages_can_be_shared():
    assert list_page_names()  # this loads the URL configuration, which registers the shareable pages
    assert sorted(SHAREABLE_PAGES) == sorted(SHAREABLE)


@pytest.mark.parametrize(
    ("page", "query"),
    [
        *product(("rejections", "joins"), ("page=2", "done=acknowledged", "too-late=expired&range=7d")),
        *product(("joins",), ("why=never-seen", "why=other-environment&in=staging", "sort=last", "again=1")),
        *product(("outcomes",), ("compare=staging", "compare=none", "keys=all", "show=purchase&rank=2")),
        ("outcomes", "step=purchase&step=refund&lost=2"),
        ("outcomes", "show=purchase&show=refund"),
        ("catalog", "sort=observations"),
    ],
)
def test_members_of_the_address_that_narrow_nothing_on_the_shared_page_are_not_named(stranger, production, page, query):
    """The lists of single calls are left out, and the result of a form was for the one who sent it."""
    assert ", only" not in " ".join(read(stranger, share(production, page, query)).split())
    if page == "catalog":
        assert "only show <code>new</code>" in " ".join(read(stranger, share(production, page, "show=new")).split())


@pytest.mark.parametrize("page", SHAREABLE)
def test_a_shared_page_shows_its_tables_and_nothing_else(stranger, production, page):
    answer = stranger.get(share(production, page, "key=purchase&range=30d" if page == "outcome" else "range=30d"))
    html = answer.content.decode()
    assert answer.status_code == 200
    assert "Shared read-only until" in html
    assert "<h1" in html
    assert "<h2" in html
    assert [tag for tag in ("<a", "<form", "<input", "<button", "<nav", "<select") if f"{tag} " in html] == []
    assert [name for name in ("href=", "action=", "hx-", "src=") if name in html.partition("<main")[2]] == []
    assert PRIVATE.search(html) is None, PRIVATE.search(html)


def test_a_shared_page_of_calls_since_a_moment_shows_the_numbers_of_its_period(stranger, production):
    addresses = [
        share(production, "rejections", query) for query in ("range=7d", "range=7d&since=2026-01-05T00:00:00Z")
    ]
    whole, since = (re.findall(r"<table.*?</table>", read(stranger, address), re.S) for address in addresses)
    assert whole
    assert since == whole


@pytest.mark.parametrize("page", ["joins", "rejections"])
def test_a_shared_page_of_one_key_shows_all_keys_and_names_none(stranger, production, page):
    for key in production.workspace.api_keys.all():
        html = read(stranger, share(production, page, f"range=7d&by={key.prefix}"))
        assert PRIVATE.search(html) is None
        assert re.findall(r"<table.*?</table>", html, re.S) == re.findall(
            r"<table.*?</table>", read(stranger, share(production, page, "range=7d")), re.S
        )


def test_numbers_charts_and_annotations_equal_those_of_the_page(stranger, browser_client, production):
    own = browser_client.get("/w/lumen-books/production/outcomes?range=30d&q=purchase").content.decode()
    html = stranger.get(share(production, query="range=30d&q=purchase")).content.decode()
    for part in ("figure", "marks"):
        pattern = rf'<script id="outcomes-chart-{part}".*?</script>'
        assert re.findall(pattern, html) == re.findall(pattern, own) != []
    cells = re.compile(r'<td class="num"[^>]*>\s*([\d,.% ]+?)\s*</td>')
    assert cells.findall(html) == cells.findall(own) != []
    assert "Deploy 4.1" in html
    assert "only q <code>purchase</code>" in html


def test_a_shared_comparison_of_environments_has_the_numbers_of_the_page(stranger, browser_client, production):
    query = "range=30d&compare=staging"
    own = browser_client.get(f"/w/lumen-books/production/outcomes?{query}").content.decode()
    html = stranger.get(share(production, query=query)).content.decode()
    cells = re.compile(r'<td class="num[^>]* data-is="(?:Staging|Share, staging|Points)"[^>]*>\s*([^<]*?)\s*</td>')
    assert cells.findall(html) == cells.findall(own) != []
    assert " in staging" in html


def test_the_answer_is_not_cached_or_indexed_and_sends_no_referrer(stranger, production):
    answer = stranger.get(share(production))
    assert answer["Cache-Control"] == "private, no-store"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert '<meta name="robots" content="noindex, nofollow">' in answer.content.decode()
    assert not answer.cookies
    assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_nothing_in_a_request_shows_another_page(stranger, production, other_workspace):
    address = share(production, query="range=30d&q=purchase")
    plain = read(stranger, address)
    assert "renewal" not in plain.partition('id="keys"')[2]
    for query in ("?q=renewal", "?range=24h", "?environment=staging", "?compare=staging", "?key=renewal&show=renewal"):
        assert read(stranger, address + query) == plain, query
    for headers in (
        {"HX-Request": "true"},
        {"HX-Request": "true", "HX-Target": "keys"},
        {"Accept": "application/json"},
        {"X-Original-URL": "/w/lumen-books/staging/outcomes"},
        {"x-service-api-key": other_workspace.full_key},
    ):
        assert read(stranger, address, headers=headers) == plain, headers


def test_the_session_of_a_person_who_is_signed_in_changes_nothing(browser_client, stranger, production):
    address = share(production)
    assert read(browser_client, address) == read(stranger, address)


@pytest.mark.parametrize("suffix", [".json", ".csv", "/", "/outcomes", "/../../w/a/production/joins", "?", "x"])
def test_other_addresses_under_the_token_are_not_found(stranger, production, suffix):
    address = share(production)
    assert stranger.get(address + suffix).status_code == (200 if suffix == "?" else 404)


def test_a_token_gives_access_to_no_other_address(stranger, production):
    token = share(production).removeprefix("/shared/")
    for address in (f"/sign-in/{token}", f"/invitations/{token}"):
        assert "Lumen" not in stranger.get(address).content.decode()
    page = "/w/lumen-books/production/outcomes"
    assert stranger.get(f"{page}?token={token}").status_code == 302
    assert stranger.get(f"{page}.json", headers={"x-service-api-key": token}).status_code == 401


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_a_shared_page_is_read_only(production, method):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    answer = getattr(client, method)(share(production))
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


def test_a_link_works_until_it_expires_or_is_revoked(stranger, production):
    old = share(production, days=1, now=timezone.now() - timedelta(days=1))
    almost = share(production, days=1, now=timezone.now() - timedelta(hours=23))
    assert [stranger.get(address).status_code for address in (old, almost)] == [404, 200]
    dead = [stranger.get(address).content.decode() for address in (old, "/shared/never")]
    assert all("This link has expired, was revoked or is not complete." in html for html in dead)
    for link in SharedLink.objects.all():
        revoke_link(production.workspace, link.pk, actor="ann", now=timezone.now())
    assert stranger.get(almost).status_code == 404


def test_a_link_of_a_removed_workspace_is_not_found(stranger, production):
    address = share(production)
    production.workspace.removed_at = timezone.now()
    production.workspace.save()
    assert stranger.get(address).status_code == 404


def test_guesses_of_tokens_are_slowed_down(stranger, production, settings):
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "link": "3/m/ip"}
    address = share(production)
    statuses = [stranger.get(f"/shared/{n}").status_code for n in range(5)]
    assert statuses == [404, 404, 404, 429, 429]
    assert stranger.get(address).status_code == 200


def test_a_shared_page_without_data_does_not_show_how_to_send_data(stranger, other_workspace):
    for page in SHAREABLE:
        html = stranger.get(share(environment_of(other_workspace), page)).content.decode()
        assert PRIVATE.search(html) is None, (page, PRIVATE.search(html))
        assert "curl" not in html


def test_only_a_digest_is_stored_and_the_token_is_in_no_audit_entry(production):
    token = share(production).removeprefix("/shared/")
    link = SharedLink.objects.get()
    assert token.encode() not in bytes(link.digest)
    assert len(token) == 43
    assert token not in str([entry.facts for entry in AuditEntry.objects.all()])


# --- making and revoking


def test_an_editor_shares_what_the_page_shows_and_revokes_it(workspace, stranger):
    editor = sign_in_as(Membership.EDITOR, workspace)
    page = editor.get("/w/lumen-books/production/outcomes?q=purchase&range=30d").content.decode()
    assert '<input type="hidden" name="query" value="q=purchase&amp;range=30d">' in page
    form = {"page": "outcomes", "query": "q=purchase&range=30d", "days": "7"}
    assert editor.post(f"{LIST}/add", form)["Location"] == LIST
    list_page = editor.get(LIST).content.decode()
    address = re.search(r"http://testserver(/shared/[\w-]{43})", list_page)[1]
    assert address not in editor.get(LIST).content.decode()
    assert stranger.get(address).status_code == 200
    link = SharedLink.objects.get()
    assert (link.page, link.query, link.expires_at - link.created_at) == ("outcomes", form["query"], timedelta(days=7))
    assert link.last_opened_at is not None
    SharedLink.objects.update(last_opened_at=link.last_opened_at + timedelta(days=1))  # while the clock was a day ahead
    assert stranger.get(address).status_code == 200
    assert SharedLink.objects.get().last_opened_at < link.last_opened_at + timedelta(minutes=1)
    question = editor.get(LIST, {"revoke": link.pk}).content.decode()
    assert "Revoke the link to Outcomes of production?" in question
    assert SharedLink.objects.get().revoked_at is None
    editor.post(f"{LIST}/{link.pk}/revoke")
    assert "Revoke now" not in editor.get(LIST, {"revoke": link.pk}).content.decode()
    assert stranger.get(address).status_code == 404
    assert "revoked" in editor.get(LIST).content.decode()
    actions = [entry.action for entry in AuditEntry.objects.order_by("id") if "shared" in entry.action]
    assert actions == ["page shared", "shared link revoked"]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"page": "keys", "days": "7"}, "This page cannot be shared."),
        ({"page": "rejection", "days": "7"}, "This page cannot be shared."),
        ({"page": "outcomes", "days": "365"}, "A link works for 1, 7 or 30 days."),
        ({"page": "outcomes", "days": ""}, "A link works for"),
        ({"page": "outcomes", "days": "7", "query": "q=" + "x" * 2000}, "too long to be shared"),
    ],
)
def test_the_page_says_what_cannot_be_shared(workspace, form, words):
    editor = sign_in_as(Membership.EDITOR, workspace)
    assert words in editor.post(f"{LIST}/add", form).content.decode()
    assert not SharedLink.objects.exists()


def test_a_viewer_sees_no_share_button(workspace):
    viewer = sign_in_as(Membership.VIEWER, workspace)
    assert "Make the link" not in viewer.get("/w/lumen-books/production/outcomes").content.decode()


def test_a_link_of_another_workspace_cannot_be_revoked(workspace, other_workspace, stranger):
    address = share(environment_of(other_workspace))
    editor = sign_in_as(Membership.EDITOR, workspace)
    editor.post(f"{LIST}/{SharedLink.objects.get().pk}/revoke")
    assert stranger.get(address).status_code == 200
    assert "Outcomes of" not in editor.get(LIST).content.decode()


def test_a_link_is_kept_for_90_days_after_its_end(production):
    now = timezone.now()
    for age in (96, 98):
        share(production, days=7, now=now - timedelta(days=age))
    delete_expired_links(now=now)
    assert SharedLink.objects.count() == 1
    assert SharedLink.objects.get().created_at == now - timedelta(days=96)
