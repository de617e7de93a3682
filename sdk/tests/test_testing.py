"""Intents minted by `affidavit.testing` are accepted by its own protection and by an app configured by variables."""

import time

import pytest
from support.signed_calls import AUDIENCE, SECRET, WORKSPACE

from affidavit import Admission, Call, IntentVerifier, MemoryNonces
from affidavit.testing import intent_headers, make_protection


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in ("AFFIDAVIT_SIGNING_SECRET", "AFFIDAVIT_WORKSPACE", "AFFIDAVIT_AUDIENCE"):
        monkeypatch.delenv(name, raising=False)


def call(headers, body=b'{"id": 7}', **facts):
    return Call(headers["X-Service-Intent"], "POST", "/refunds", "", body, "application/json", **facts)


def test_a_header_in_one_line_passes_the_protection_for_tests():
    admitted = make_protection().admit(call(intent_headers("POST /refunds", {"id": 7})))
    assert isinstance(admitted, Admission)
    assert (admitted.intent.sub, admitted.intent.args) == ("test-user", {"id": 7})
    assert isinstance(make_protection().admit(call(intent_headers("POST /refunds"), b"")), Admission)


def test_options_are_passed_to_mint_intent():
    guard = make_protection()
    refusal = guard.admit(call(intent_headers("POST /refunds", {"id": 7}, now=time.time() - 3600)))
    assert (refusal.status, b"expired" in refusal.body) == (403, True)
    admitted = guard.admit(call(intent_headers("POST /refunds", {"id": 7}, sub="u", tool_call_id="c")))
    assert (admitted.intent.sub, admitted.intent.tool_call_id) == ("u", "c")


def test_arguments_beside_their_hash_are_refused_instead_of_ignored():
    with pytest.raises(ValueError, match="exactly one of args and args_hash"):
        intent_headers("POST /refunds", {"id": 7}, args_hash="0" * 64)


def test_intents_for_tests_use_the_variables_of_the_app(monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_SIGNING_SECRET", f"{SECRET},{'gas_' + 'o' * 43}")  # as during a rotation
    monkeypatch.setenv("AFFIDAVIT_WORKSPACE", WORKSPACE)
    monkeypatch.setenv("AFFIDAVIT_AUDIENCE", AUDIENCE)
    header = intent_headers("POST /refunds", {"id": 7})["X-Service-Intent"]
    verifier = IntentVerifier(nonces=MemoryNonces(several_workers=True))
    intent = verifier.verify(header, "POST", "/refunds", "", b'{"id": 7}', "application/json")
    assert (intent.workspace, intent.audience) == (WORKSPACE, AUDIENCE)
