"""Deleting a user deletes their intents and confirmations. Rejections stay, without a tool call, and so do counts."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from django.utils import timezone

from affidavit import args_hash
from intents.gate.confirmations import decide_confirmation, request_confirmation
from intents.gate.delete_user import count_user, delete_user
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from intents.models import Confirmation, MintedIntent, Rejection, VerificationTally
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from wire.errors import DomainError


def write(environment, sub: str) -> None:
    call, now = Call(sub, "POST /orders", args_hash({})), timezone.now()
    confirmation = request_confirmation(environment, call, "Order", now=now)
    decide_confirmation(environment.workspace, confirmation.pk, "confirm", actor="ann", now=now)
    mint_for_call(environment, call, tool_call_id=f"call {sub}", confirmation_id=confirmation.pk, now=now)
    record_verifications(environment, [Verification("expired", now, tool_call_id=f"call {sub}")])


def test_only_this_user_is_deleted_and_the_rejections_stay_without_their_tool_call(workspace, other_workspace):
    environments = list(workspace.workspace.environments.all())
    foreign = other_workspace.workspace.environments.first()
    for environment in [*environments, foreign]:
        for sub in ("user_1", "user_10"):
            write(environment, sub)
    tallies = list(VerificationTally.objects.values_list())
    rows = {"intents_mintedintent": 2, "intents_confirmation": 2}
    assert count_user(workspace.workspace, "user_1") == rows
    assert delete_user(workspace.workspace, "user_1") == rows
    assert delete_user(workspace.workspace, "user_1") == {}
    for model in (Confirmation, MintedIntent):
        assert set(model.objects.filter(sub="user_1").values_list("environment", flat=True)) == {foreign.pk}
        assert model.objects.filter(sub="user_10").count() == 3
    assert Rejection.objects.filter(environment__in=environments).count() == 4
    assert set(Rejection.objects.filter(environment__in=environments).values_list("tool_call_id", flat=True)) == {
        "", "call user_10",
    }  # fmt: skip
    assert list(VerificationTally.objects.values_list()) == tallies


@pytest.mark.django_db(transaction=True)
def test_minting_and_deciding_during_the_deletion_get_a_clear_answer(workspace):
    environment = workspace.workspace.environments.get(name="production")
    is_over, faults = threading.Event(), []

    def use() -> None:
        try:
            while not is_over.is_set():
                try:
                    write(environment, "user_1")
                except DomainError as error:
                    assert error.code in ("confirmation-required", "not-found"), error
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    users = [threading.Thread(target=use) for _ in range(4)]
    for user in users:
        user.start()
    deleted = sum(sum(delete_user(workspace.workspace, "user_1").values()) for _ in range(60))
    is_over.set()
    for user in users:
        user.join(30)
    assert faults == []
    assert deleted > 10
    delete_user(workspace.workspace, "user_1")
    assert not MintedIntent.objects.exists()
    assert not Confirmation.objects.exists()
