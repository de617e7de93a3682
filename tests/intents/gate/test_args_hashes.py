"""The argsHash of a confirmation is stored as a keyed hash, and encrypted only until the decision or the expiry."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from affidavit import args_hash
from intents.gate import confirmations
from intents.gate.args_hashes import forget_args_hashes
from intents.gate.needs_confirmation import Call
from intents.models import Confirmation
from tests.intents.gate.confirmation_requests import ADDRESS, QUESTION, decide, request_confirmation
from wire.migrations._rehash import rehash_column


def test_neither_the_arguments_nor_their_unkeyed_hash_can_be_read_in_the_row(api):
    args = {"orderId": 777123}
    request_confirmation(api, args=args)
    row = Confirmation.objects.values().get()
    kept = str(row) + str(bytes(row["encrypted_args_hash"]))
    assert "777123" not in kept
    assert args_hash(args) not in kept


def test_the_same_arguments_have_another_hash_in_another_workspace(api, other_workspace):
    request_confirmation(api)
    assert api.post(ADDRESS, QUESTION, key=other_workspace.full_key).status_code == 201
    first, second = Confirmation.objects.values_list("args_hash", flat=True)
    assert first != second


def test_a_call_confirmed_under_an_earlier_secret_key_is_minted(api, settings):
    """The hub's SECRET_KEY keys the hashes of arguments. It may be replaced between decision and minting."""
    confirmation_id = request_confirmation(api)["confirmationId"]
    decide(api, confirmation_id)
    call = {name: QUESTION[name] for name in ("sub", "operation", "args")}
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [settings.SECRET_KEY]
    assert api.post("/api/intents", {**call, "confirmationId": confirmation_id}).status_code == 201


@pytest.mark.parametrize("decision", ["confirm", "decline"])
def test_a_decision_deletes_the_encrypted_args_hash(api, decision):
    decide(api, request_confirmation(api)["confirmationId"], decision)
    assert Confirmation.objects.get().encrypted_args_hash is None


def test_an_expiry_deletes_the_encrypted_args_hash(api):
    request_confirmation(api)
    confirmation = Confirmation.objects.get()
    assert forget_args_hashes(now=confirmation.expires_at - timedelta(seconds=1)) == 0
    assert forget_args_hashes(now=confirmation.expires_at) == 1
    assert forget_args_hashes(now=confirmation.expires_at) == 0
    assert Confirmation.objects.get().encrypted_args_hash is None


def test_a_row_with_an_unkeyed_hash_is_rewritten(api):
    confirmation_id = request_confirmation(api)["confirmationId"]
    decide(api, confirmation_id)
    Confirmation.objects.update(args_hash=args_hash(QUESTION["args"]))
    rows = Confirmation.objects.values_list("pk", "environment__workspace_id", "args_hash")
    with connection.schema_editor() as schema_editor:
        rehash_column(schema_editor, rows, "intents_confirmation", "args_hash")
    call = {name: QUESTION[name] for name in ("sub", "operation", "args")}
    assert api.post("/api/intents", {**call, "confirmationId": confirmation_id}).status_code == 201


def test_a_decision_on_the_page_deletes_the_encrypted_args_hash_once_it_takes_effect(production):
    now = timezone.now()
    call = Call("user_17", "POST /refunds", args_hash({}))
    confirmation = confirmations.request_confirmation(production, call, "Refund", now=now)
    confirmations.decide_confirmation(
        production.workspace, confirmation.pk, "decline", actor="ann", now=now, undo_time=confirmations.UNDO_TIME
    )
    assert forget_args_hashes(now=now) == 0
    assert forget_args_hashes(now=now + confirmations.UNDO_TIME) == 1
