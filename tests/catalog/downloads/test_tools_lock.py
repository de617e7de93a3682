"""`affidavit tools` against a real hub, which knows when a tool changed, and what changed it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from affidavit._cli import main
from catalog.models import Operation
from catalog.rules.hint_rules import add_hint_rule
from catalog.rules.map_rules import add_map_rule
from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db(transaction=True)
BOOK = {"parameters": {"bookId": {"type": "integer"}}}
AT = 1_790_000_000
SINCE = datetime.fromtimestamp(AT, UTC).strftime("%Y-%m-%d %H:%M UTC")


@pytest.fixture
def with_books(api: Any, workspace: Any) -> Any:
    deliver(
        api,
        workspace,
        observation("GET", "/books", query={"page": "1"}, response={"books": [{"id": 1}]}, lastSeenAt=AT),
        observation("GET", "/books/{bookId}", response={"id": 1, "pages": 7}, lastSeenAt=AT, **BOOK),
        observation("POST", "/books", 201, request={"title": "x"}, response={"id": 1}, lastSeenAt=AT),
    )
    return workspace


@pytest.fixture
def run(live_server: Any, with_books: Any, tmp_path: Path, capsys: Any, monkeypatch: Any) -> Any:
    def run(action: str, *options: str, key: str = with_books.full_key) -> tuple[int, str]:
        arguments = ["tools", action, "tools.lock", "--hub", live_server.url, "--key", key, *options]
        status = main(arguments)
        output = capsys.readouterr()
        return status, output.out + output.err

    monkeypatch.chdir(tmp_path)
    for name in ("AFFIDAVIT_HUB", "AFFIDAVIT_API_KEY", "AFFIDAVIT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    return run


def test_a_lock_stays_valid_until_a_shape_changes(api, with_books, run):
    assert run("lock") == (0, "tools.lock: locked 3 tools of production.\n")
    first = Path("tools.lock").read_bytes()
    deliver(api, with_books, observation("GET", "/books", count=9, response={"books": []}, lastSeenAt=AT))
    assert run("verify") == (0, "tools.lock: 3 tools of production, all as locked.\n")
    run("lock")
    assert Path("tools.lock").read_bytes() == first


def test_each_change_is_listed_with_its_time_and_its_cause(api, with_books, run):
    run("lock")
    deliver(
        api,
        with_books,
        observation("GET", "/books", query={"sort": "x"}, response={"books": [{"id": 1}]}, lastSeenAt=AT),
        observation("GET", "/books/{bookId}", response={"id": "b1", "pages": 7}, lastSeenAt=AT, **BOOK),
        observation("DELETE", "/books/{bookId}", 204, 4, lastSeenAt=AT, **BOOK),
    )
    add_hint_rule(Operation.objects.get(method="POST"), "openWorldHint", False, actor="ann", now=timezone.now())
    status, output = run("verify")
    lines = re.sub(r"since \S+ \S+ UTC, on", "since …, on", output).splitlines()
    assert status == 1
    assert lines == [
        "tools.lock: the tools of production differ: 1 added, 3 changed, 0 as locked.",
        f"added    delete_books_by_bookId (DELETE /books/{{bookId}}): first seen {SINCE}, 4 observations",
        "changed  get_books (GET /books)",
        f"           input /query/sort: new, string; since {SINCE}, in 1 of 1 observations",
        "changed  get_books_by_bookId (GET /books/{bookId})",
        f"           output /id: type changed from integer to any type; since {SINCE}, in 1 of 1 observations",
        "changed  post_books (POST /books)",
        "           openWorldHint: true, now false; since …, on the operation's page",
    ]


def test_what_is_no_longer_seen_is_listed_with_its_last_day(api, with_books, run):
    with_note = observation("GET", "/notes", response={"id": 1, "note": "x"}, lastSeenAt=AT)
    deliver(api, with_books, *[with_note] * 30)
    run("lock")
    deliver(api, with_books, *[observation("GET", "/notes", response={"id": 1}, lastSeenAt=AT)] * 30)
    status, output = run("verify")
    reason = "last seen on 2026-09-21, absent 30 times in a row when detected"
    assert status == 1
    assert [line.strip() for line in output.splitlines()[2:]] == [
        f"description: now GET /notes. Answers 200 with an object (id).; {reason}",
        f"output /note: removed, was string; {reason}",
    ]


def test_a_manual_override_is_listed_with_its_time(run):
    run("lock")
    operation = Operation.objects.get(method="GET", key="/books/{}")
    add_map_rule(operation, "200", "", as_map=True, actor="ann", now=datetime.fromtimestamp(AT, UTC))
    status, output = run("verify")
    assert status == 1
    assert [line.strip() for line in output.splitlines()[2:]] == [
        "description: now GET /books/{bookId}. Answers 200 with type object.",
        f"output /id: removed, was integer; since {SINCE}, by a manual override",
        f"output /pages: removed, was integer; since {SINCE}, by a manual override",
        f"output /{{}}: new, integer; since {SINCE}, by a manual override",
    ]


def test_an_altered_digest_is_found_even_if_the_tools_are_the_same(run):
    run("lock")
    lock = json.loads(Path("tools.lock").read_text())
    digest = lock["tools"]["get_books"]["sha256"]
    lock["tools"]["get_books"]["sha256"] = digest.replace(digest[0], "0" if digest[0] != "0" else "1")
    Path("tools.lock").write_text(json.dumps(lock))
    status, output = run("verify")
    assert status == 1
    assert "altered  get_books (GET /books): its digest does not fit" in output


def test_another_environment_can_be_compared_with_the_lock(run):
    run("lock")
    status, output = run("verify", "--environment", "staging")
    assert status == 1
    assert "the tools of staging differ: 3 removed, 0 as locked" in output


def test_a_failed_verification_is_not_reported_as_a_difference(run, workspace):
    run("lock")
    for options in (
        ["--environment", "nowhere"],
        ["--hub", "http://127.0.0.1:1"],
        ["--key", workspace.publishable_key],
    ):
        status, output = run("verify", *options)
        assert (status, output.startswith("affidavit: ")) == (2, True)
