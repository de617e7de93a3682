"""A new hub has a sample workspace with data on every page, and a page removes it."""

from __future__ import annotations

import http.cookiejar
import json
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from affidavit import REASONS
from hub.sample.workspace import AGE, create
from tests.hub.hub_process import Hub, free_port, read_process
from workspaces.models import ApiKey, AuditEntry

pytestmark = [pytest.mark.xdist_group("whole hub, data"), pytest.mark.timeout(400)]
HISTORY_SECONDS = 180  # usually it takes 15; more if other work shares the machine
LIVE_SECONDS = HISTORY_SECONDS + 60  # usually it takes 25, because the live traffic starts after the history
BREAK_OFF = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE xact_start < now() AND datname IS NOT NULL ORDER BY xact_start LIMIT 1"
    )
    print(cursor.rowcount)
"""  # this ends the oldest transaction, which stores a day of the history
TABLES = {
    "overview": "series",
    "catalog": "operations",
    "outcomes": "keys",
    "joins": "broken",
    "rejections": "rejections",
    "confirmations": "confirmations",
    "toolcalls": "toolCalls",
}


class SampledHub(Hub):
    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "HUB_SAMPLE": "1"}

    @property
    def keys_file(self) -> Path:
        return self.folder / "var" / "sample.json"

    @property
    def keys(self) -> dict[str, Any]:
        return json.loads(self.keys_file.read_text())

    def tables(self, page: str) -> dict[str, Any]:
        status, document, _ = self.request(f"/w/lumen-books/production/{page}", key=self.keys["reportKey"])
        assert status == 200
        return document["tables"]

    def fact(self, name: str, span: str) -> int:
        facts = self.tables(f"overview.json?range={span}")["facts"]
        return next(row["value"] for row in facts if row["fact"] == name)

    @property
    def days(self) -> list[int]:
        """Return the number of conversations for each of the last 30 days and today."""
        return [row["conversations"] for row in self.tables("overview.json?range=30d")["series"]]

    def wait_until(self, true: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, f"{what}:\n{self.output}"
            time.sleep(0.3)

    def sample_processes(self) -> list[int]:
        """Return the processes that make the history (sample_history) and the traffic (examples.bookshop)."""
        lines = {pid: read_process(pid, "cmdline") for pid in self.processes()}
        sought = (b"examples.bookshop", b"sample_history")
        return [pid for pid, line in lines.items() if any(name in line for name in sought)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampledHub]:
    folder = tmp_path_factory.mktemp("sample")
    hub = SampledHub(folder, free_port())
    try:
        yield hub
    finally:
        hub.kill()


@pytest.fixture(scope="module")
def link(hub: SampledHub) -> str:
    hub.start()
    return hub.create_sign_in_link()


def has_rows(hub: Any, page: str, table: str) -> bool:
    return bool(hub.tables(f"{page}.json?range=24h")[table])


def test_live_traffic_is_on_every_page_after_the_history(hub, link):
    for page, table in TABLES.items():
        filled = partial(has_rows, hub, page, table)
        hub.wait_until(filled, LIVE_SECONDS, page)
    hub.wait_until(lambda: hub.fact("outcomes", "24h") > 0, LIVE_SECONDS, "outcomes")
    operation = urlencode({"method": "GET", "path": "/books/{bookId}"})
    hub.wait_until(lambda: bool(hub.tables("catalog.json?q=books")["operations"]), LIVE_SECONDS, "books")
    assert hub.tables(f"operation.json?{operation}")["properties"]


def test_the_keys_of_the_sample_are_for_this_user_only_and_are_not_printed(hub, link):
    assert hub.keys_file.stat().st_mode & 0o777 == 0o600
    for name in ("platformKey", "reportKey", "orderSyncKey", "signingSecret", "publishableKey"):
        assert hub.keys[name] not in hub.output


def test_each_program_of_the_sample_has_a_key_of_its_own_for_what_it_does(db, settings, tmp_path):
    settings.HUB_DATA_DIR = tmp_path
    now = timezone.now()
    create(now=now)
    created = json.loads((tmp_path / "sample.json").read_text())
    keys = ApiKey.objects.filter(workspace_id=created["workspaceId"], kind=ApiKey.SECRET)
    assert {key.name: (key.prefix, key.scopes) for key in keys} == {
        "assistant platform": (created["platformKey"][:12], ["platform", "confirm"]),
        "shop backend": (created["reportKey"][:12], ["report"]),
        "order sync job": (created["orderSyncKey"][:12], ["report"]),
    }
    entries = AuditEntry.objects.filter(workspace_id=created["workspaceId"], action="key created")
    keys = ApiKey.objects.filter(workspace_id=created["workspaceId"])
    assert keys.get(kind=ApiKey.PUBLISHABLE).prefix == created["publishableKey"][:12]
    dated = entries.values_list("facts__name", "at", "actor")
    assert sorted(dated) == sorted((key.name, key.created_at, key.created_by) for key in keys)
    assert {key.created_at for key in keys} == {now - AGE}


def test_thirty_days_of_history_have_every_diagnosis_and_nearly_every_reason(hub, link):
    assert len(hub.days) >= 30
    hub.wait_until(lambda: min(hub.days[1:-1]) > 20, HISTORY_SECONDS, "the history")
    joins = hub.tables("joins.json?range=30d")
    kinds = {row["diagnosis"] for row in joins["diagnoses"]}
    assert kinds == {"other-environment", "altered", "placeholder", "never-seen"}
    assert joins["healed"]
    reasons = {row["reason"] for row in hub.tables("rejections.json?range=30d")["reasons"]}
    assert len(set(REASONS) - reasons) <= 2
    states = {row["state"] for row in hub.tables("confirmations.json?range=30d")["confirmations"]}
    assert states >= {"used", "declined", "expired"}
    versions = {row["version"]: row["verifications"] for row in hub.tables("rejections.json?range=30d")["versions"]}
    assert 0.02 < versions[1] / (versions[1] + versions[2]) < 0.3


def test_removing_the_sample_on_its_page_deletes_only_the_sample(hub, link):
    created = json.loads(hub.manage("create_workspace", "Mine", "--full-key", "--json").stdout)
    key = hub.keys["reportKey"]
    remove(hub, link)
    assert hub.request("/w/lumen-books/production/overview.json", key=key)[0] == 401
    assert hub.request("/w/mine/production/overview.json", key=created["secretKey"])[0] == 200
    assert not hub.keys_file.exists()
    hub.wait_until(lambda: not hub.sample_processes(), 30, "the traffic went on")
    assert hub.process.poll() is None
    hub.wait_until(lambda: "was deleted by operator" in hub.output, 30, "the worker did not delete it")

    assert hub.stop() == 0
    hub.start()
    assert not hub.keys_file.exists()
    assert not hub.sample_processes()
    assert hub.request("/w/mine/production/overview.json", key=created["secretKey"])[0] == 200


def test_the_history_continues_after_the_database_was_interrupted_and_can_be_removed_meanwhile(tmp_path):
    hub = SampledHub(tmp_path, free_port())
    try:
        hub.start()
        hub.wait_until(lambda: hub.days[1] > 0, HISTORY_SECONDS, "the history")
        assert hub.days[-2] == 0
        assert hub.manage("shell", "--no-imports", "-c", BREAK_OFF).stdout.strip() == "1"
        complete = sum(day > 0 for day in hub.days)
        hub.wait_until(lambda: all(day > 20 for day in hub.days[1 : complete + 3]), HISTORY_SECONDS, "the history")

        before = len(hub.output)
        assert hub.days[-2] == 0, "the history is still being made"
        remove(hub, hub.create_sign_in_link())
        hub.wait_until(lambda: not hub.sample_processes(), 60, "the sample went on")
        hub.wait_until(lambda: "was deleted by operator" in hub.output, 30, "the worker did not delete it")
        assert "error" not in hub.output[before:].lower()
    finally:
        hub.kill()


def remove(hub: SampledHub, link: str) -> None:
    """Remove the sample as a person does: sign in, follow the link on the overview, and confirm."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def press(address: str, button: str) -> None:
        page = browser.open(address, timeout=60).read().decode()
        form = re.search(rf"<form[^>]*>(?:(?!</form>).)*{button}(?:(?!</form>).)*</form>", page, re.DOTALL)[0]
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[1]
        action = re.search(r'<form[^>]*action="([^"]+)"', form)
        target = hub.address + action[1] if action else address
        browser.open(target, urlencode({"csrfmiddlewaretoken": token}).encode(), timeout=60)

    press(link, "Sign in")
    overview = browser.open(f"{hub.address}/w/lumen-books/production/overview", timeout=60).read().decode()
    question = re.search(r'<a [^>]*href="([^"]+)"[^>]*>Remove it…</a>', overview)[1]
    press(hub.address + question, "Remove Lumen Books")
