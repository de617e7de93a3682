"""The page of refused requests: admins see which requests of which key are refused, since when, and what to do."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import escape

from tests.page_text import read_html
from tests.sign_in import sign_in_as
from wire.http.problems import CODES
from workspaces.keys.create import store_new_key
from workspaces.keys.revoke import revoke_key
from workspaces.models import ApiKey, Membership
from workspaces.refusals import counter
from workspaces.refusals.counter import Refusal, RefusalSum
from workspaces.refusals.record import record_refusals
from workspaces.templatetags.texts import code_spans

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/refused-requests"
KEYS = "/w/lumen-books/production/keys"


@pytest.fixture(autouse=True)
def _write_at_once(monkeypatch):
    monkeypatch.setattr(counter, "WRITE_SECONDS", 0.0)


def refuse(key, code, *, age=timedelta(), count=1, endpoint="POST /api/conversation-outcomes"):
    at = timezone.now() - age
    hour = at.replace(minute=0, second=0, microsecond=0)
    record_refusals({Refusal(key.pk, endpoint, code, hour): RefusalSum(count, at, at)})


def new_key(workspace, name, kind=ApiKey.SECRET):
    text = store_new_key(workspace.workspace, kind, ["report"], name=name, now=timezone.now())
    return workspace.workspace.api_keys.get(prefix=text[:12])


def read(client, address):
    return read_html(client.get(address))


def download(client, query=""):
    return json.loads(client.get(f"{PAGE}.json{query}").getvalue())["tables"]


def test_a_publishable_key_that_sends_outcomes_is_listed_with_the_cure(admin, api, workspace):
    assert "No request with a key of this workspace was refused in this period." in read(admin, PAGE)
    api.post("/api/conversation-outcomes", {"outcomes": []}, key=workspace.publishable_key)
    page = read(admin, PAGE)
    assert "403 <code>publishable-key-refused</code>" in page
    assert "POST /api/<wbr>conversation-outcomes" in page.replace("\u200b", "")
    assert "send a <code>gak_</code> key, from a backend" in page


def test_refusals_are_grouped_by_key_endpoint_and_code_over_the_hours_of_the_period(admin, workspace):
    shop, sync = new_key(workspace, "shop"), new_key(workspace, "sync")
    for hours in (30, 20, 1):
        refuse(shop, "invalid-json", age=timedelta(hours=hours), count=2)
    refuse(shop, "invalid-json", age=timedelta(days=9), count=100)
    refuse(sync, "rate-limited", age=timedelta(hours=2), count=7)
    rows = download(admin)["refusedRequests"]
    assert [(row["keyId"], row["code"], row["status"], row["count"]) for row in rows] == [
        (shop.prefix, "invalid-json", 400, 6), (sync.prefix, "rate-limited", 429, 7),
    ]  # fmt: skip
    assert rows[0]["firstAt"] < rows[1]["firstAt"] < rows[0]["lastAt"]
    assert [row["count"] for row in download(admin)["hours"]] == [2, 7, 2, 2]
    assert sum(row["count"] for row in download(admin, "?range=all")["hours"]) == 113
    assert [row["keyId"] for row in download(admin, f"?by={sync.prefix}")["refusedRequests"]] == [sync.prefix]
    page = admin.get(PAGE)
    assert page.context["total"] == 13
    assert [refusal.count for refusal in page.context["refusals"]] == [6, 7]


def test_every_code_has_words_for_its_meaning_and_its_cure(admin, workspace):
    key = new_key(workspace, "shop")
    refused_codes = [code for code, (status, *_) in CODES.items() if status < 500]
    for code in refused_codes:
        refuse(key, code)
    refuse(key, "a-code-of-an-older-version")
    refuse(key, "scope-missing", endpoint="GET unknown address")  # which names no scope that the key could lack
    page = read(admin, PAGE)
    meanings = set(re.findall(r'<td colspan="6" class="whole soft"> (.*?) </td>', page))
    for code in refused_codes:
        assert f"{escape(CODES[code].title)}: {code_spans(CODES[code].cure)}." in meanings, code
    assert "a-code-of-an-older-version" in page
    assert "This version of the hub does not have this code." in meanings


def test_an_unknown_key_in_the_address_is_named(admin, workspace):
    assert "by=gak_nowhere" in read(admin, f"{PAGE}?by=gak_nowhere")
    assert admin.get(f"{PAGE}.json?by=gak_nowhere").status_code == 400


def test_the_row_of_a_key_says_how_many_of_its_requests_were_refused_in_the_last_days(admin, workspace):
    shop, old, browser = new_key(workspace, "shop"), new_key(workspace, "old"), new_key(workspace, "w", "publishable")
    refuse(shop, "invalid-json", count=11)
    refuse(shop, "rate-limited", age=timedelta(days=3))
    refuse(shop, "rate-limited", age=timedelta(days=9), count=50)
    refuse(old, "invalid-json", count=4)  # before the key was revoked
    refuse(browser, "publishable-key-refused", count=1200)
    revoke_key(old, actor="ann", now=timezone.now())
    assert "still used in the last 7 days" not in read(admin, KEYS)
    refuse(old, "invalid-api-key")
    page = read(admin, KEYS)
    for key, words in ((shop, "12 refused requests"), (old, "1 refused request"), (browser, "1,200 refused requests")):
        row = page.partition(f'<tr id="key-{key.pk}"')[2].partition('<tr id="key-')[0]
        assert f'{PAGE}?range=7d&amp;by={key.prefix}">{words} in the last 7 days</a>' in row
    assert "still used in the last 7 days: 1" in page


def test_a_key_without_refused_requests_has_no_link(admin, workspace):
    assert "in the last 7 days</a>" not in read(admin, KEYS)


def test_refused_requests_of_another_workspace_are_not_shown(admin, workspace, other_workspace):
    refuse(other_workspace.workspace.api_keys.first(), "invalid-json")
    assert download(admin, "?range=all") == {"refusedRequests": [], "hours": []}
    assert admin.get(f"{PAGE}?by={other_workspace.full_key[:12]}").context["total"] == 0


@pytest.mark.parametrize("role", [Membership.VIEWER, Membership.EDITOR])
def test_only_admins_open_the_page(workspace, role):
    assert sign_in_as(role, workspace).get(PAGE).status_code == 403


def test_the_csv_of_hours_has_each_hour_also_in_iso_8601(admin, workspace):
    refuse(new_key(workspace, "shop"), "invalid-json")
    header, row = admin.get(f"{PAGE}.csv?table=hours").getvalue().decode().splitlines()
    assert header.startswith('"hour","hourIso","keyId"')
    hour = timezone.now().replace(minute=0, second=0)
    assert row.startswith(f'{int(hour.timestamp())},"{hour:%Y-%m-%dT%H:00:00Z}"')
