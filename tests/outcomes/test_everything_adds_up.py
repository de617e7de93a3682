"""Four processes report, repeat, are killed and continue, and conversations arrive late. Then all figures must agree.

A run has 20,000 reports; set AFFIDAVIT_REPORTS=200000 for more.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from outcomes.models import Conversation, Outcome
from tests.outcomes import client_process
from tests.outcomes.recount_rows import (
    list_search_keys,
    read_tallies,
    read_tallies_by_api_key,
    recount,
    recount_by_api_key,
)
from tests.read_tables import read_rows, read_tables

REPORTS = int(os.environ.get("AFFIDAVIT_REPORTS", "20000"))
PROCESSES, KILLS, BATCH_SIZE = 4, 3, 125
KEYS = ["purchase"] * 6 + ["renewal"] * 3 + ["ticket_closed", "Ticket-Closed", "=1+1", "😀", " purchase"]
ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns")
REPORT, REGISTER = "/api/conversation-outcomes", "/api/conversations"
PAGES = "/w/lumen-books/production"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(60 + REPORTS // 100)]


def plan(chance: random.Random, reports: int) -> Iterator[tuple[str, dict]]:
    """Yield batches of reports, a tenth of them twice, and registrations between them.

    Conversations are registered before their reports, after them, or never.
    """
    for _ in range(reports // BATCH_SIZE):
        ids = [f"conv {chance.randrange(REPORTS // 4)}" for _ in range(BATCH_SIZE)]
        items = [{"conversationId": id_, "outcomeKey": chance.choice(KEYS)} for id_ in ids]
        yield REPORT, {"outcomes": items}
        if chance.random() < 0.1:
            yield REPORT, {"outcomes": items}
        arriving_ids = [f"conv {chance.randrange(REPORTS // 5)}" for _ in range(BATCH_SIZE // 2)]
        yield REGISTER, {"conversations": [{"conversationId": id_} for id_ in arriving_ids]}


@pytest.fixture
def answered_steps(workspace, live_server, tmp_path) -> Sequence[tuple[str, dict, dict]]:
    """Return every step with its answer, after all processes have ended."""
    plans = [tmp_path / f"plan-{n}" for n in range(PROCESSES)]
    for n, file in enumerate(plans):
        steps = plan(random.Random(n), REPORTS // PROCESSES)
        file.write_text("".join(json.dumps(step) + "\n" for step in steps))
    notes = [file.with_name(f"{file.name}.notes") for file in plans]
    run_and_kill(live_server.url, workspace.full_key, list(zip(plans, notes, strict=True)))
    return [
        (*json.loads(step), json.loads(answer))
        for file, note in zip(plans, notes, strict=True)
        for step, answer in zip(file.read_text().splitlines(), note.read_text().splitlines(), strict=True)
    ]


def run_and_kill(url: str, key: str, files: Sequence[tuple[Path, Path]]) -> None:
    chance = random.Random(5)
    environment = {**os.environ, "KEY": key}

    def start(plan: Path, notes: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, client_process.__file__, url, str(plan), str(notes)]
        return subprocess.Popen(command, env=environment)

    processes = [start(*pair) for pair in files]
    for n in range(PROCESSES * KILLS):
        time.sleep(chance.uniform(0.2, 0.5))
        process = processes[n % PROCESSES]
        process.kill()
        process.wait()
        processes[n % PROCESSES] = start(*files[n % PROCESSES])
    assert [process.wait() for process in processes] == [0] * PROCESSES


def test_accepted_ids_rows_tallies_pages_and_downloads_agree(answered_steps, production, browser_client):
    reported = [
        (item["conversationId"], item["outcomeKey"])
        for address, body, _ in answered_steps if address == REPORT for item in body["outcomes"]
    ]  # fmt: skip
    known_ids = {
        item["conversationId"]
        for address, body, _ in answered_steps if address == REGISTER for item in body["conversations"]
    }  # fmt: skip
    accepted = {pair for pair in reported if pair[0] in known_ids}
    broken = set(reported) - accepted
    check_answers(answered_steps, known_ids)

    rows = Outcome.objects.filter(environment=production)
    pairs = rows.values_list("conversation__conversation_id", "outcome_key")
    assert set(pairs.filter(broken=False)) == accepted
    assert set(pairs.filter(broken=True)) == broken
    assert len(pairs) == len(accepted) + len(broken)
    assert sum(rows.values_list("reports", flat=True)) >= len(reported)
    assert (
        set(Conversation.objects.filter(started_at__isnull=False).values_list("conversation_id", flat=True))
        == known_ids
    )
    assert read_tallies(production) == recount(production)
    assert read_tallies_by_api_key(production) == recount_by_api_key(production)
    assert list_search_keys(production) == {key for _, key in reported}
    for zone in ZONES:
        check_pages(browser_client, zone, accepted, broken)


def check_answers(answered_steps: Sequence[tuple[str, dict, dict]], known_ids: set[str]) -> None:
    """Check that no answer counted an unregistered conversation as known, and that counts agree with the lists."""
    for address, body, answer in answered_steps:
        if address == REPORT:
            ids = [item["conversationId"] for item in body["outcomes"]]
            unknown = set(answer["unknownConversations"])
            assert answer["recorded"] == sum(id_ not in unknown for id_ in ids)
            assert set(ids) - unknown <= known_ids


def check_pages(client, zone: str, accepted: set[tuple[str, str]], broken: set[tuple[str, str]]) -> None:
    query = {"tz": zone, "range": "7d"}
    by_key = Counter(key for _, key in accepted)
    response = client.get(f"{PAGES}/outcomes", query)
    assert response.context["totals"].outcomes == len(accepted)
    assert response.context["totals"].broken == len(broken)
    assert {row.key: row.outcomes for row, *_ in response.context["rows"]} == by_key
    assert f'<div class="v">{len(accepted):,}</div>' in response.content.decode()

    tables = read_tables(client.get(f"{PAGES}/outcomes.json", query))
    assert {row["outcomeKey"]: row["outcomes"] for row in tables["keys"]} == by_key
    assert sum(row["outcomes"] for row in tables["series"]) == len(accepted)
    csv = read_rows(client.get(f"{PAGES}/outcomes.csv", {**query, "table": "keys"}))
    assert {row["outcomeKey"].removeprefix("'"): int(row["outcomes"]) for row in csv} == by_key

    outcomes = read_rows(client.get(f"{PAGES}/outcome.csv", query))
    pairs_on_page = {(row["conversationId"], row["outcomeKey"].removeprefix("'")) for row in outcomes}
    assert (len(outcomes), pairs_on_page) == (len(accepted), accepted)
    joins = read_rows(client.get(f"{PAGES}/joins.csv", query))
    pairs_on_page = {(row["conversationId"], row["outcomeKey"].removeprefix("'")) for row in joins}
    assert (len(joins), pairs_on_page) == (len(broken), broken)
