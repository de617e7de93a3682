"""If the connection breaks while a request is stored, the answer says whether it may have been stored."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from catalog.models import WitnessReport
from intents.models import VerificationReport
from outcomes.models import Outcome
from tests.wire.postgresql.cutting_proxy import CuttingProxy, run_proxy

pytestmark = pytest.mark.django_db(transaction=True)
OUTCOMES = "/api/conversation-outcomes"
ID = "conversation-of-the-cut"
BODY = {"outcomes": [{"conversationId": ID, "outcomeKey": "purchase"}]}


@pytest.fixture
def proxy(workspace) -> Iterator[CuttingProxy]:
    with tempfile.TemporaryDirectory() as folder, run_proxy(Path(folder)) as proxy:
        yield proxy


def detail_of(response) -> str:
    assert (response.status_code, response.json()["code"], response["Retry-After"]) == (503, "unavailable", "5")
    return str(response.json()["detail"])


@pytest.mark.parametrize("refuse", [False, True])
def test_a_commit_without_an_answer_may_have_been_stored(api, proxy, refuse):
    body = {"reportId": str(uuid.uuid4()), "verifications": []}
    proxy.cut_at(b"COMMIT", refuse=refuse)
    detail = detail_of(api.post("/api/verification-reports", body))
    assert (proxy.cuts, "may have been stored" in detail, "Nothing" in detail) == (1, True, False)
    proxy.refuse = False
    assert VerificationReport.objects.count() == 1
    assert api.post("/api/verification-reports", body).status_code == 200
    assert VerificationReport.objects.count() == 1


def test_a_statement_outside_a_transaction_without_an_answer_may_have_been_stored(api, proxy):
    proxy.cut_at(ID.encode())
    detail = detail_of(api.post(OUTCOMES, BODY))
    assert (proxy.cuts, "may have been stored" in detail) == (1, True)
    connection.close()  # a server does this before each request, Django's test client does not
    assert Outcome.objects.get().conversation.conversation_id == ID


def test_a_witness_report_without_an_answer_may_have_been_stored(api, proxy):
    body = {"reportId": str(uuid.uuid4()), "reporter": ID, "observations": []}
    proxy.cut_at(ID.encode())
    detail = detail_of(api.post("/api/witness-reports", body))
    assert (proxy.cuts, "may have been stored" in detail) == (1, True)
    connection.close()
    assert api.post("/api/witness-reports", body).status_code == 202
    assert WitnessReport.objects.count() == 1


def test_a_request_repeated_under_its_key_counts_once(api, proxy):
    proxy.cut_at(b"COMMIT")
    headers = {"Idempotency-Key": "once"}
    detail = detail_of(api.post(OUTCOMES, BODY, headers=headers))
    assert "repeat it under the same Idempotency-Key" in detail
    response = api.post(OUTCOMES, BODY, headers=headers)
    assert (response.status_code, response["Idempotent-Replayed"]) == (200, "true")
    assert Outcome.objects.get().reports == 1


def test_a_request_that_breaks_before_its_commit_was_not_stored(api, proxy):
    proxy.cut_at(ID.encode())
    detail = detail_of(api.post(OUTCOMES, BODY, headers={"Idempotency-Key": "once"}))
    assert (proxy.cuts, "Nothing of this request was stored" in detail) == (1, True)
    assert not Outcome.objects.exists()
