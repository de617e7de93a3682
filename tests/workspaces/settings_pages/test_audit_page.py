"""The page of the audit log: what was done to the workspace, by whom and from where."""

import csv
import io
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from tests.sign_in import sign_in_as
from workspaces.audit.record import record_audit
from workspaces.models import AuditEntry, Membership

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/audit"


def read_words(response) -> str:
    """Return the text of a page without tags, with single spaces."""
    return " ".join(strip_tags(response.content.decode()).split())


def rows(client, query="") -> list[dict]:
    return json.loads(b"".join(client.get(f"{PAGE}.json{query}").streaming_content))["tables"]["audit"]


def test_the_page_lists_who_did_what_from_where_with_the_latest_first(admin, workspace):
    form = {"name": "ci", "kind": "secret", "scopes": ["report"], "everywhere": "yes"}
    admin.post("/w/lumen-books/production/keys/create", form, REMOTE_ADDR="198.51.100.7")
    text = admin.get("/w/lumen-books/production/keys").context["new_keys"][0]["text"]
    latest = rows(admin)[0]
    assert (latest["actor"], latest["action"], latest["address"]) == ("admin", "key created", "198.51.100.7")
    assert latest["facts"]["key"] == text[:12]
    page = admin.get(PAGE).content.decode()
    assert "198.51.100.7" in page
    assert text not in page
    exported = list(csv.DictReader(io.StringIO(b"".join(admin.get(f"{PAGE}.csv").streaming_content).decode())))
    assert [row["action"] for row in exported] == [row["action"] for row in rows(admin)]


@pytest.mark.parametrize("text", ["2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_name_that_looks_like_a_time_does_not_break_the_page(admin, text):
    admin.post("/w/lumen-books/production/annotations/add", {"text": text})
    assert text in admin.get(f"{PAGE}?tz=Asia/Tokyo").content.decode()


def test_filters_and_the_range_apply_to_page_and_export(admin, workspace):
    now = timezone.now()
    for actor, action, age in (("ada", "key created", 0), ("ada", "key revoked", 0), ("bo", "key created", 20)):
        record_audit(workspace.workspace.pk, action, actor=actor, now=now - timedelta(days=age))
    assert len(rows(admin, "?range=24h&actor=ada")) == 2
    assert len(rows(admin, "?range=24h&actor=ada&action=key revoked")) == 1
    assert [row["actor"] for row in rows(admin, "?range=30d&action=key created&actor=bo")] == ["bo"]
    assert rows(admin, "?range=24h&actor=bo") == []
    assert "Nothing matches in this period." in admin.get(f"{PAGE}?actor=nobody").content.decode()


def test_a_person_and_an_action_without_entries_stay_chosen(admin):
    page = admin.get(f"{PAGE}?actor=nobody&action=key+archived").content.decode()
    assert "<option selected>nobody</option>" in page
    assert '<option value="key archived" selected>' in page


def test_a_period_without_entries_leads_to_those_of_all_time_with_their_number(admin, workspace):
    AuditEntry.objects.all().delete()
    now = timezone.now()
    assert "All time:" not in read_words(admin.get(PAGE))
    for action, days in (("key created", 20), ("key revoked", 30), ("signed in", 20)):
        record_audit(workspace.workspace.pk, action, actor="ada", now=now - timedelta(days=days))
    for query, words, count in (
        ("", "No changes in this period. All time: 2 entries", 2),
        ("?actor=ada&action=key+revoked", "Nothing matches in this period. All time: 2 entries", 2),
        ("?kind=all", "Nothing matches in this period. All time: 3 entries", 3),
    ):
        response = admin.get(f"{PAGE}{query}")
        assert words in read_words(response)
        link = re.findall(r'<a href="([^"]*)">All time: ', response.content.decode())[0]
        assert admin.get(f"{PAGE}{unescape(link)}").context["entries"].paginator.count == count
    AuditEntry.objects.filter(action="key revoked").delete()
    assert "All time: 1 entry" in read_words(admin.get(PAGE))


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("", {"retention changed", "key created", "role changed", "confirmation declined"}),
        ("&kind=settings", {"retention changed"}),
        ("&kind=keys", {"key created"}),
        ("&kind=people", {"role changed", "signed in"}),
        ("&kind=decisions", {"confirmation declined"}),
        ("&kind=all", {"retention changed", "key created", "role changed", "signed in", "confirmation declined"}),
        ("&action=signed in", {"signed in"}),
    ],
)
def test_by_default_the_page_shows_changes_by_people(admin, workspace, query, actions):
    for action in ("retention changed", "key created", "role changed", "signed in", "confirmation declined"):
        record_audit(workspace.workspace.pk, action, actor="ada", now=timezone.now())
    assert {row["action"] for row in rows(admin, f"?range=24h&actor=ada{query}")} == actions


def test_long_logs_have_pages_and_complete_exports(admin, workspace):
    now = timezone.now()
    for number in range(60):
        record_audit(workspace.workspace.pk, f"step {number}", actor="ada", now=now)
    assert "Older" in admin.get(PAGE).content.decode()
    assert len(rows(admin)) >= 60


def test_an_entry_has_the_value_before_a_change_in_front_of_the_value_after_it(admin, workspace):
    now = timezone.now()
    retention = {"before": {"rejections": 90}, "after": {"rejections": 30}}
    record_audit(workspace.workspace.pk, "retention changed", retention, actor="ada", now=now)
    role = {"member": "bo", "from": "viewer", "to": "editor"}
    record_audit(workspace.workspace.pk, "role changed", role, actor="ada", now=now)
    text = read_words(admin.get(PAGE))
    kept = {"before": {"broken_joins": 1, "inbox": 7}, "after": {"broken_joins": None, "inbox": None}}
    record_audit(workspace.workspace.pk, "retention changed", kept, actor="ada", now=now)
    text = read_words(admin.get(PAGE))
    assert "retention changed: inbox 7 → the default · broken joins 1 → keep all" in text
    assert "retention changed: rejections 90 → 30" in text
    assert "role changed: member bo · viewer → editor" in text


def test_an_entry_about_drift_leads_to_the_change(admin, workspace):
    facts = {"environment": "production", "operation": "GET /a", "place": "200 /x", "change": "new", "changeId": 7}
    record_audit(workspace.workspace.pk, "drift muted", facts, actor="ada", now=timezone.now())
    page = admin.get(PAGE).content.decode()
    assert re.search(r'href="[^"]*/production/change\?[^"]*id=7">new</a>', page)
    assert "change id" not in page


def test_an_entry_names_and_links_what_it_is_about(admin, workspace):
    key = workspace.workspace.api_keys.create(prefix="gak_a1b2c3d4", kind="secret", name="ci", digest=b"x" * 32)
    confirmation = "24d7bbea-f782-4a73-bb2a-e397b59cd4c7"
    now = timezone.now()
    for action, facts in (
        (
            "confirmation confirmed",
            {"operation": "POST /orders", "confirmationId": confirmation, "environment": "staging"},
        ),
        ("key revoked", {"key": key.prefix, "name": "ci"}),
        ("drift muted", {"operation": "GET /cart", "place": "200 /total", "days": 7, "environment": "production"}),
        ("drift unmuted", {"operation": "GET /cart", "environment": "gone"}),
    ):
        record_audit(workspace.workspace.pk, action, facts, actor="ada", now=now)
    response = admin.get(PAGE)
    text, page = read_words(response), response.content.decode()
    assert "call confirmed: POST /orders · confirmation 24d7bbea… · environment staging" in text
    assert f'title="{confirmation}"' in page
    assert f'/keys#key-{key.pk}"><code>gak_a1b2c3d4…</code></a>' in page
    assert f"/w/lumen-books/staging/confirmations?id={confirmation}" in page
    assert "drift muted: GET /cart · location 200 /total · for 7 days · environment production" in text
    assert page.count("/operation?method=GET&amp;path=%2Fcart") == 1
    assert rows(admin, "?action=confirmation confirmed")[0]["facts"]["confirmationId"] == confirmation


def test_other_workspaces_and_lower_roles_do_not_see_the_page(admin, workspace, other_workspace):
    assert all("other" not in json.dumps(row).lower() for row in rows(admin))
    assert len(rows(admin)) == 1
    assert sign_in_as(Membership.EDITOR, workspace).get(PAGE).status_code == 403
    assert admin.get(PAGE.replace("lumen-books", "other-shop")).status_code == 404
    assert admin.post(PAGE).status_code == 405


def test_the_page_says_how_many_entries_of_other_kinds_there_are(admin, workspace):
    for action in ("key created", "signed in", "signed in", "confirmation declined"):
        record_audit(workspace.workspace.pk, action, actor="ada", now=timezone.now())
    record_audit(workspace.workspace.pk, "confirmation confirmed", actor="key gak_a1b2c3d4", now=timezone.now())
    assert "3 more: sign-ins or decisions by keys" in admin.get(f"{PAGE}?range=24h").content.decode()
    assert "2 more: sign-ins<" in admin.get(f"{PAGE}?range=24h&actor=ada").content.decode()
    assert "1 more: decisions by keys<" in admin.get(f"{PAGE}?range=24h&actor=key gak_a1b2c3d4").content.decode()
    assert " more: sign-ins" not in admin.get(f"{PAGE}?range=24h&actor=ada&kind=all").content.decode()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"kind": "sensitive", "name": "user*Email"}, "name user*Email · mark as redacted"),
        ({"kind": "drop", "name": "iban"}, "name iban · drop with everything inside"),
        (
            {"method": "all", "source": "/books/{bookId}", "target": "/books/{id}", "matching": False},
            "all methods: /books/{bookId} shown as /books/{id}",
        ),
        (
            {"method": "GET", "source": "/a/{}", "target": "/a/{id}", "matching": True},
            "GET: /a/{} shown as /a/{id} · with every other path that matches it",
        ),
        ({"operation": "POST /cart", "place": "idempotentHint true"}, "POST /cart · idempotent yes"),
        ({"place": "readOnlyHint false"}, "read only no"),
        ({"secret": "gas_N0ov"}, "secret gas_N0ov…"),
    ],
)
def test_an_entry_is_in_the_words_of_the_page_that_it_is_about(admin, workspace, facts, words):
    record_audit(workspace.workspace.pk, "rule set", facts, actor="ada", now=timezone.now())
    text = read_words(admin.get(f"{PAGE}?actor=ada"))
    assert f"rule set: {words}" in text
    assert not any(word in text for word in ("sensitive", "matching no", "Hint"))


def test_an_unknown_kind_is_ignored(admin, workspace):
    for action in ("key created", "signed in"):
        record_audit(workspace.workspace.pk, action, actor="ada", now=timezone.now())
    plain, unknown = (read_words(admin.get(f"{PAGE}?actor=ada{kind}")) for kind in ("", "&kind=everything"))
    assert "1 in this period" in plain
    assert "1 in this period" in unknown
