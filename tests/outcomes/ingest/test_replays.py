"""A batch sent a hundred times gets the same answer, and changes only the counts and the last times of reports."""

from __future__ import annotations

import random
from typing import Any

from outcomes.models import ApiKeyTally, Conversation, Outcome, Tally

URL = "/api/conversation-outcomes"
COUNT_COLUMNS = {"reports", "last_reported_at"}
TIMES = 100


def dump_rows(*, except_columns: set[str]) -> dict[str, Any]:
    return {
        model.__name__: sorted(
            str({name: value for name, value in row.items() if name not in except_columns})
            for row in model.objects.values()
        )
        for model in (Conversation, Outcome, Tally, ApiKeyTally)
    }


def batch() -> dict[str, Any]:
    chance = random.Random(3)
    ids = [chance.choice(["known", "late", "undefined", "KNOWN", " known", "😀"]) for _ in range(40)]
    return {"outcomes": [{"conversationId": id_, "outcomeKey": chance.choice("ab")} for id_ in ids]}


def register_conversations(api) -> None:
    api.post("/api/conversations", {"conversations": [{"conversationId": "known"}, {"conversationId": "😀"}]})


def test_a_hundred_replays_change_only_the_counts_of_reports(api):
    register_conversations(api)
    first = api.post(URL, batch())
    before = dump_rows(except_columns=COUNT_COLUMNS)
    answers = [api.post(URL, batch()) for _ in range(TIMES)]
    assert {answer.content for answer in answers} == {first.content}
    assert {answer["X-Outcomes-New"] for answer in answers} == {"0"}
    assert dump_rows(except_columns=COUNT_COLUMNS) == before
    assert sum(Outcome.objects.values_list("reports", flat=True)) == 40 * (TIMES + 1)


def test_under_an_idempotency_key_replays_change_nothing(api):
    register_conversations(api)
    headers = {"Idempotency-Key": "order-17"}
    first = api.post(URL, batch(), headers=headers)
    before = dump_rows(except_columns=set())
    answers = [api.post(URL, batch(), headers=headers) for _ in range(TIMES)]
    assert {(answer.content, answer["X-Outcomes-New"]) for answer in answers} == {
        (first.content, first["X-Outcomes-New"])
    }
    assert {answer["Idempotent-Replayed"] for answer in answers} == {"true"}
    assert dump_rows(except_columns=set()) == before
