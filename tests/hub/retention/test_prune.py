"""Retention: expired rows are deleted in small batches. The tallies of outcomes and verifications stay."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from affidavit import args_hash
from alerts.evaluation.preview import PREVIEW_LENGTH
from alerts.models import Event
from alerts.pages.forms import SILENT_SPANS
from alerts.rules.silences import choose_activity
from alerts.rules.thresholds import Thresholds
from catalog.models import Operation, OperationDay, ReporterActivity, WitnessReport
from hub.retention import tasks
from hub.retention.data_kinds import KINDS, REPORT_ID_DAYS
from hub.retention.prune import prune_all, prune_workspace
from intents.gate.confirmations import decide_confirmation, request_confirmation
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from intents.models import Confirmation, MintedIntent, Rejection, VerificationReport, VerificationTally
from intents.reports.prune import REJECTIONS
from intents.reports.receive import receive_report
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins import prune as broken_joins_prune
from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.delete_conversation import delete_conversation
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Conversation, Outcome, Tally
from tests.catalog.reports import deliver, observation
from tests.outcomes.recount_rows import read_report_times, read_tallies, recount
from tests.sample_data import fill_workspace
from wire.postgresql.monthly_partitions import Month, create_coming_months, list_months
from wire.task_turns import Turn
from wire.time.period import parse_period
from workspaces.annotations.annotate import AnnotationText, add_annotation
from workspaces.audit.prune import AUDIT_LOG
from workspaces.audit.record import record_audit
from workspaces.models import AuditEntry, RefusalTally, RetentionPolicy, SigningSecret
from workspaces.refusals.counter import RefusalCounter
from workspaces.refusals.record import record_refusals

NOW = timezone.now()
DAY = timedelta(days=1)
READ, WRITE = (Call("user_1", operation, args_hash({})) for operation in ("GET /orders", "POST /orders"))
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _secrets_of_old(workspace, other_workspace) -> None:
    """Let the signing secrets sign from a time long ago, because the tests mint intents in the past."""
    SigningSecret.objects.update(signs_from=NOW - 10_000 * DAY)


def keep(workspace, **days: int | None) -> None:
    RetentionPolicy.objects.update_or_create(workspace=workspace.workspace, defaults=days)


def prune(workspace, batch: int = 1000) -> dict[str, int]:
    """Prune and return the count of each kind, without the zeros."""
    return {name: count for name, count in prune_workspace(workspace.workspace, now=NOW, batch=batch).items() if count}


def write_all(environment, at) -> None:
    """Write something of every kind except the shapes by day and the events of alerts."""
    record_outcomes(environment, [Report(f"never {at}", "purchase")], now=at)
    record_verifications(environment, [Verification("expired", at)])
    mint_for_call(environment, READ, now=at)
    request_confirmation(environment, WRITE, "Order", now=at)
    receive_report(environment, uuid.uuid4(), [], body=b"", now=at)
    WitnessReport.objects.create(
        environment=environment, report_id=uuid.uuid4(), size=0,
        received_at=at, folded_at=at,
    )  # fmt: skip
    AuditEntry.objects.create(workspace_id=environment.workspace_id, actor="ann", action="test", at=at)
    add_annotation(environment, AnnotationText("Deploy"), at=at, everywhere=False, actor="ann", now=at)


def refuse_at(workspace, moment) -> None:
    """Count a refused request in the hour of a moment."""
    counter = RefusalCounter()
    counter.add(workspace.workspace.api_keys.first().pk, "POST /api/intents", "invalid-json", now=moment)
    record_refusals(counter.take_due())


def test_refused_requests_are_kept_as_long_as_rejections(workspace, other_workspace):
    for age in (DAY, 9 * DAY, 11 * DAY, 30 * DAY):
        refuse_at(workspace, NOW - age)
        refuse_at(other_workspace, NOW - age)
    assert prune(workspace) == {}
    keep(workspace, rejections=10)
    policy = RetentionPolicy.objects.get()
    assert {kind.name: kind.count_expired(workspace.workspace, policy, now=NOW) for kind in KINDS}["rejections"] == 2
    assert prune(workspace, batch=1) == {"rejections": 2}
    assert prune(other_workspace) == {}
    assert RefusalTally.objects.filter(starts_at__gt=NOW - 10 * DAY).count() == 4
    assert RefusalTally.objects.filter(starts_at__lt=NOW - 10 * DAY).count() == 2


def test_without_a_policy_only_ids_of_reports_expire_of_these_rows(workspace, production):
    """Of the rows that `write_all` writes, only the ids of reports have a limit by default."""
    write_all(production, NOW - 5000 * DAY)
    assert prune(workspace) == {"inbox": 2}


def test_ids_of_reports_are_kept_400_days_unless_the_policy_says_otherwise(workspace, production):
    write_all(production, NOW - (REPORT_ID_DAYS * DAY - timedelta(minutes=1)))
    assert prune(workspace) == {}
    keep(workspace, inbox=401)
    write_all(production, NOW - 400.5 * DAY)
    assert prune(workspace) == {}
    keep(workspace, inbox=400)
    assert prune(workspace) == {"inbox": 2}
    keep(workspace, inbox=7)
    assert prune(workspace) == {"inbox": 2}


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.name not in ("observed_days", "alerts")])
def test_each_number_of_days_applies_to_its_own_kind(workspace, other_workspace, production, kind):
    for age in (10 * DAY - timedelta(minutes=1), 10 * DAY + timedelta(minutes=1)):
        write_all(production, NOW - age)
        write_all(other_workspace.workspace.environments.first(), NOW - age)
    keep(workspace, **{kind: 10})
    expected = 2 if kind == "inbox" else 1
    policy = RetentionPolicy.objects.get()
    counts = {k.name: k.count_expired(workspace.workspace, policy, now=NOW) for k in KINDS}
    assert {name: count for name, count in counts.items() if count} == {kind: expected}
    assert prune(workspace) == {kind: expected}
    assert prune(workspace) == {}
    assert prune(other_workspace) == {}


def test_shapes_by_day_are_kept_400_days_unless_the_policy_says_otherwise(api, workspace):
    deliver(
        api, workspace, *[observation(lastSeenAt=int((NOW - age * DAY).timestamp())) for age in (1, 9, 11, 399, 402)]
    )
    assert prune(workspace) == {"observed_days": 1}
    keep(workspace, observed_days=10)
    assert prune(workspace) == {"observed_days": 2}
    assert OperationDay.objects.count() == 2
    assert Operation.objects.get().observations == 5


def test_events_and_reporter_activity_are_kept_90_days_unless_the_policy_says_otherwise(workspace, production):
    for age in (8, 11, 89, 91):
        at = NOW - age * DAY
        Event.objects.create(workspace=workspace.workspace, kind="test", key=str(age), title="x", at=at, fired_at=at)
        ReporterActivity.objects.create(environment=production, reporter="shop", starts_at=at)
    assert prune(workspace) == {"alerts": 2}
    keep(workspace, alerts=10)
    assert prune(workspace) == {"alerts": 3}
    assert (Event.objects.count(), ReporterActivity.objects.count()) == (1, 2)


def test_the_activity_that_the_alert_of_silent_reporters_reads_is_kept(workspace, production):
    longest = choose_activity(Thresholds(minutes=max(SILENT_SPANS))) + PREVIEW_LENGTH
    for at in (NOW - longest, NOW - 63 * DAY):
        ReporterActivity.objects.create(environment=production, reporter="shop", starts_at=at)
    keep(workspace, alerts=1)
    (kind,) = (kind for kind in KINDS if kind.name == "alerts")
    assert kind.count_expired(workspace.workspace, RetentionPolicy.objects.get(), now=NOW) == 1
    assert prune(workspace) == {"alerts": 1}
    assert ReporterActivity.objects.get().starts_at == NOW - longest


def test_pruning_continues_in_small_batches_until_nothing_is_left(workspace, production):
    for number in range(7):
        write_all(production, NOW - (20 + number) * DAY)
    keep(workspace, broken_joins=10, rejections=10, minted_intents=10, confirmations=10, inbox=10, audit=10)
    went = prune(workspace, batch=2)
    assert went == {
        "broken_joins": 7, "rejections": 7, "minted_intents": 7, "confirmations": 7, "inbox": 14, "audit": 7,
    }  # fmt: skip
    models = (Outcome, Conversation, Rejection, MintedIntent, Confirmation, WitnessReport, VerificationReport)
    assert [model.objects.count() for model in models] == [0] * len(models)


def test_a_month_is_dropped_unless_some_workspace_keeps_it(workspace, other_workspace):
    create_coming_months(REJECTIONS, now=NOW - 400 * DAY)
    old, older = NOW - 350 * DAY, NOW - 390 * DAY
    mine, theirs = workspace.workspace.environments.first(), other_workspace.workspace.environments.first()
    for environment, at in ((mine, old), (mine, older), (theirs, old)):
        record_verifications(environment, [Verification("expired", at)])
    keep(workspace, rejections=100)
    connection.check_constraints()  # a table cannot be dropped while checks of its rows are deferred
    assert prune_all(now=NOW)["rejections"] == 2
    months = list_months(REJECTIONS)
    assert (Month.at(old) in months, Month.at(older) in months) == (True, False)
    assert Rejection.objects.get().environment == theirs
    keep(other_workspace, rejections=300)
    assert prune_all(now=NOW)["rejections"] == 1
    assert min(list_months(REJECTIONS)) > Month.at(old)
    assert VerificationTally.objects.count() == 3


def test_a_month_with_entries_of_the_whole_hub_is_not_dropped(workspace):
    create_coming_months(AUDIT_LOG, now=NOW - 400 * DAY)
    for workspace_id in (workspace.workspace.pk, None):
        record_audit(workspace_id, "test", actor="ann", now=NOW - 390 * DAY)
    keep(workspace, audit=100)
    assert prune_all(now=NOW)["audit"] == 1
    assert AuditEntry.objects.filter(action="test").get().workspace_id == ""
    assert Month.at(NOW - 390 * DAY) in list_months(AUDIT_LOG)


def test_unfolded_reports_are_not_deleted_however_old_they_are(workspace, production):
    write_all(production, NOW - 900 * DAY)
    WitnessReport.objects.update(folded_at=None)
    keep(workspace, inbox=1)
    prune(workspace)
    assert WitnessReport.objects.count() == 1


def test_a_used_confirmation_is_kept_as_long_as_its_call_can_be_delivered_again(workspace, production):
    asked_at = NOW - DAY - timedelta(minutes=5)
    confirmation = request_confirmation(production, WRITE, "Order", now=asked_at)
    decide_confirmation(workspace.workspace, confirmation.pk, "confirm", actor="ann", now=asked_at)
    used_at = NOW - DAY + timedelta(minutes=5)
    mint_for_call(production, WRITE, tool_call_id="call", confirmation_id=confirmation.pk, now=used_at)
    keep(workspace, confirmations=1)
    assert prune(workspace) == {}
    assert mint_for_call(production, WRITE, tool_call_id="call", confirmation_id=confirmation.pk, now=NOW)


def test_an_outcome_or_a_join_that_is_still_reported_is_not_deleted(workspace, production):
    register_conversations(production, [Arrival("known")], now=NOW - 50 * DAY)
    for at in (NOW - 40 * DAY, NOW - DAY):
        record_outcomes(production, [Report("known", "purchase"), Report("again", "purchase")], now=at)
    record_outcomes(production, [Report("known", "renewal")], now=NOW - 40 * DAY)
    keep(workspace, broken_joins=10)
    assert prune(workspace) == {}
    assert Outcome.objects.count() == 3


def test_a_pruned_id_can_be_reported_and_registered_again(workspace, production):
    record_outcomes(production, [Report("late", "purchase")], now=NOW - 40 * DAY)
    keep(workspace, broken_joins=10)
    assert prune(workspace) == {"broken_joins": 1}
    assert not Conversation.objects.exists()
    record_outcomes(production, [Report("late", "purchase")], now=NOW)
    assert register_conversations(production, [Arrival("late")], now=NOW).healed_outcomes == 1
    assert Outcome.objects.get().first_reported_at == NOW


def test_pruning_keeps_the_old_rows_of_a_move_so_that_it_can_be_undone(workspace, production):
    staging = workspace.workspace.environments.get(name="staging")
    register_conversations(staging, [Arrival("c")], now=NOW - 50 * DAY)
    record_outcomes(production, [Report("c", "purchase")], now=NOW - 40 * DAY)
    ever = parse_period({"range": "all"}, now=NOW)
    move = move_broken_joins(production, staging, ever, actor="ann", now=NOW - 30 * DAY)
    keep(workspace, broken_joins=10)
    assert prune(workspace) == {}
    assert undo_move(move, actor="ann", now=NOW)
    assert Outcome.objects.get().environment == production
    assert {k: v for k, v in read_tallies(production).items() if any(v)} == recount(production)


def test_deleting_a_conversation_keeps_the_report_times_of_pruned_rows(workspace, production):
    at = (NOW - 40 * DAY).replace(minute=1)
    record_outcomes(production, [Report("never", "purchase"), Report("c", "purchase")], now=at)
    register_conversations(production, [Arrival("c", at)], now=at)
    keep(workspace, broken_joins=10)
    assert prune(workspace) == {"broken_joins": 1}
    delete_conversation(workspace.workspace, "c")
    assert read_report_times(production, "purchase") == (at, at)
    numbers = read_tallies(production)["m", "purchase", at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)]
    assert numbers == (0, 1, 1, 0, 0)


def test_tallies_and_the_totals_of_all_pages_outlive_pruning(workspace, api, browser_client):
    start = fill_workspace(workspace, api)
    Outcome.objects.filter(broken=True).update(
        first_reported_at=NOW - 3 * DAY, last_reported_at=NOW - 3 * DAY
    )  # changed after the reports were counted, so that their tallies stay those of today
    Rejection.objects.update(occurred_at=NOW - 3 * DAY)
    WitnessReport.objects.update(received_at=NOW - 3 * DAY)

    def totals() -> dict[str, object]:
        pages = {name: browser_client.get(f"{start}/{name}?range=all") for name in ("joins", "outcomes", "rejections")}
        overview = browser_client.get(f"{start}/overview?range=all").context
        catalog = json.loads(browser_client.get(f"{start}/catalog.json?range=all").getvalue())["tables"]
        return {
            "joins": str(pages["joins"].context["totals"]),
            "rates": str([chart["chart"] for chart in pages["joins"].context["rate_charts"]]),
            "outcomes": str(pages["outcomes"].context["totals"]),
            "rejections": [str(pages["rejections"].context[name]) for name in ("verifications", "rejected", "reasons")],
            "overview": [str(overview[name]) for name in ("facts", "reasons", "buckets")],
            "catalog": catalog,
            "tallies": sorted(map(str, Tally.objects.values_list())),
            "verifications": sorted(map(str, VerificationTally.objects.values_list())),
        }

    before = totals()
    keep(workspace, broken_joins=2, rejections=1, minted_intents=1, confirmations=1, inbox=1, audit=1)
    assert set(prune(workspace)) == {"broken_joins", "rejections", "inbox"}
    assert not Outcome.objects.filter(broken=True).exists()
    assert totals() == before
    notice = "kept for 2 days; older ones are only counted"
    assert notice in browser_client.get(f"{start}/joins?range=all").content.decode()
    assert notice not in browser_client.get(f"{start}/joins?range=24h").content.decode()


def test_a_workspace_that_is_being_deleted_is_left_to_its_deletion(workspace, production):
    write_all(production, NOW - 50 * DAY)
    keep(workspace, audit=1)
    workspace.workspace.removed_at = NOW
    workspace.workspace.save()
    assert not any(prune_all(now=NOW).values())


def test_the_command_says_what_was_deleted(workspace, production):
    write_all(production, timezone.now() - 50 * DAY)
    keep(workspace, rejections=1)
    output = StringIO()
    call_command("prune", "--json", stdout=output)
    assert json.loads(output.getvalue()) == {kind.name: int(kind.name == "rejections") for kind in KINDS}
    call_command("prune", stdout=output)
    lines = output.getvalue().splitlines()[1:]
    assert [line.split(maxsplit=1)[1] for line in lines] == [kind.label.lower() for kind in KINDS]


@pytest.mark.django_db(transaction=True)
def test_reports_and_registrations_at_the_same_time_lose_nothing(workspace, production):
    """Old joins are pruned while their ids are reported and registered. Then every id is known and has its outcome."""
    ids = [f"c{number}" for number in range(200)]
    record_outcomes(production, [Report(id_, "purchase") for id_ in ids], now=NOW - 40 * DAY)
    keep(workspace, broken_joins=10)
    faults: list[BaseException] = []

    def run(steps: Iterator[object]) -> None:
        try:
            for _ in steps:
                pass
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    def chunks() -> Iterator[list[str]]:
        return (ids[start : start + 20] for start in range(0, len(ids), 20))

    report = (record_outcomes(production, [Report(id_, "purchase") for id_ in part], now=NOW) for part in chunks())
    register = (register_conversations(production, [Arrival(id_) for id_ in part], now=NOW) for part in chunks())
    pruning = (prune(workspace, batch=7) for _ in range(3))
    threads = [threading.Thread(target=run, args=(steps,)) for steps in (report, register, pruning)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert not Outcome.objects.filter(broken=True).exists()
    assert sorted(Outcome.objects.values_list("conversation__conversation_id", flat=True)) == sorted(ids)


@pytest.mark.django_db(transaction=True)
def test_a_join_can_be_deleted_while_it_is_pruned(workspace, production, monkeypatch):
    record_outcomes(production, [Report("c1", "purchase")], now=NOW - 40 * DAY)
    keep(workspace, broken_joins=10)
    faults: list[BaseException] = []
    lock_conversations = broken_joins_prune.lock_conversations

    def delete() -> None:
        try:
            delete_conversation(workspace.workspace, "c1")
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    deletion = threading.Thread(target=delete)

    def lock_while_deletion_begins(*arguments: Any) -> None:
        lock_conversations(*arguments)
        if deletion.ident:  # it has begun
            return
        deletion.start()
        deadline = time.monotonic() + 20
        while not is_waiting_for_a_lock():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    monkeypatch.setattr(broken_joins_prune, "lock_conversations", lock_while_deletion_begins)
    assert prune(workspace)["broken_joins"] == 1
    deletion.join(60)
    assert faults == []
    assert not Conversation.objects.exists()


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def test_nightly_pruning_runs_in_turns_until_nothing_is_left(workspace, production, monkeypatch):
    for number in range(3):
        write_all(production, NOW - (20 + number) * DAY)
    keep(workspace, rejections=10, audit=10)
    rings: list[object] = []
    monkeypatch.setattr(tasks, "Turn", lambda: Turn(0))
    monkeypatch.setattr(tasks, "prune_all", partial(prune_all, batch=2))
    monkeypatch.setattr(tasks.wake_worker, "send_after_commit", rings.append)
    tasks.prune()
    assert (Rejection.objects.count(), rings) == (1, [tasks.prune])
    tasks.prune()
    assert (Rejection.objects.count(), len(rings)) == (0, 2)
    tasks.prune()
    assert len(rings) == 2
