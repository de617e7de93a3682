"""An alert fires once per cause, however many workers evaluate it, and not for anything before its creation."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.db import connections
from django.utils import timezone

from alerts.evaluation import fire
from alerts.evaluation.fire import evaluate, evaluate_all
from alerts.evaluation.preview import preview
from alerts.models import Alert, Delivery, Event, Target
from alerts.rules.thresholds import Thresholds
from alerts.setup.alerts import AlertSettings, change_alert, delete_alert, pause_alert, resume_alert
from catalog.change_page.mute import mute_drift
from catalog.ingest.fold import fold_reports
from catalog.models import Drift, ReporterActivity, WitnessReport
from hub.retention.prune import prune_workspace
from intents.models import ALL_VERSIONS, VerificationRollup
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.alerts.alerts import make_alert, make_target
from tests.catalog.reports import deliver, environment_of, observation, report
from wire.time.period import QUARTER, floor_to_quarter, parse_period
from workspaces.environments.change import archive_environment, restore_environment
from workspaces.models import RetentionPolicy

NOW = timezone.now()
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
pytestmark = pytest.mark.django_db


def break_operation(api, workspace, number: int = 1) -> None:
    path = f"/orders{'x' * number}"
    deliver(api, workspace, *[observation(path=path, response={"id": 1})] * 30)
    deliver(api, workspace, *[observation(path=path, response={"id": "1"})] * 30)


@pytest.mark.parametrize(("end", "events"), [(timedelta(milliseconds=1), 0), (timedelta(milliseconds=-1), 1)])
def test_a_change_that_was_muted_when_it_was_detected_fires_nothing_after_the_mute(api, workspace, target, end, events):
    make_alert(workspace, target)
    break_operation(api, workspace)
    for change in Drift.objects.all():
        mute_drift(change, 1, actor="ann", now=change.at + end - DAY)
    evaluate_all(now=timezone.now() + MINUTE)
    assert Event.objects.count() == events


def add_verifications(environment, at, result: str, count: int) -> None:
    VerificationRollup.objects.create(
        environment=environment, grain="q", version=ALL_VERSIONS, starts_at=floor_to_quarter(at), result=result,
        operation="", shard=0, count=count, last_at=at,
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_many_workers_fire_once(api, workspace, target):
    make_alert(workspace, target)
    break_operation(api, workspace)
    now = timezone.now() + MINUTE
    barrier = threading.Barrier(4)
    fired: list[int] = []

    def work() -> None:
        barrier.wait()
        fired.append(evaluate_all(now=now))
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fired) == [0, 0, 0, 1]
    assert (Event.objects.count(), Delivery.objects.count()) == (1, 1)


def test_an_alert_notifies_all_its_targets_and_watches_only_its_environment(api, workspace, target, receiver):
    chat, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    make_alert(workspace, target, chat)
    make_alert(workspace, chat, environment="staging")
    break_operation(api, workspace)
    assert evaluate_all(now=timezone.now() + MINUTE) == 1
    assert set(Delivery.objects.values_list("target__name", flat=True)) == {"ops", "chat"}


def test_changes_before_the_alert_do_not_fire_but_are_in_the_preview(api, workspace, target):
    break_operation(api, workspace)
    alert = make_alert(workspace, target, now=timezone.now() + DAY)
    now = timezone.now() + MINUTE
    assert evaluate(alert.pk, now=now) == 0
    (row,) = preview(alert.environment, Alert.DRIFT, Thresholds(), now=now).rows
    assert "200 /id" in row.title
    assert preview(environment_of(workspace, "staging"), Alert.DRIFT, Thresholds(), now=now).rows == []


def test_the_preview_covers_thirty_days(api, workspace):
    break_operation(api, workspace)
    production = environment_of(workspace)
    for days, count in ((29, 1), (31, 0)):
        Drift.objects.update(at=NOW - days * DAY)
        assert len(preview(production, Alert.DRIFT, Thresholds(), now=NOW).rows) == count


def test_changes_of_one_operation_that_are_detected_within_a_second_all_fire(api, workspace, target):
    alert = make_alert(workspace, target)
    break_operation(api, workspace)
    at = timezone.now().replace(microsecond=100)
    Drift.objects.update(at=at)
    later = Drift.objects.get()
    later.pk, later.pointer, later.at = None, "/total", at.replace(microsecond=900)
    later.save(force_insert=True)
    assert evaluate(alert.pk, now=timezone.now() + MINUTE) == 2
    assert evaluate(alert.pk, now=timezone.now() + 2 * MINUTE) == 0


def test_every_change_fires_however_many_there_are_in_a_day(api, workspace, target, monkeypatch):
    monkeypatch.setattr(fire, "MAX_EVENTS", 20)
    alert = make_alert(workspace, target)
    break_operation(api, workspace)
    (change,) = Drift.objects.all()
    at = timezone.now()
    Drift.objects.bulk_create(
        Drift(
            **{field.name: getattr(change, field.name) for field in Drift._meta.concrete_fields[1:]}
            | {"pointer": f"/{n}", "at": at + n // 50 * timedelta(seconds=1)}
        )
        for n in range(1100)
    )
    fired = [evaluate(alert.pk, now=at + minutes * MINUTE) for minutes in (1, 2, 3)]
    assert fired == [20, 3, 0]
    assert sum(event.facts["changeCount"] for event in Event.objects.all()) == 1101
    day_preview = preview(alert.environment, Alert.DRIFT, Thresholds(), now=at + HOUR)
    assert sum(measure.value for measure in day_preview.measures) == 1101


def test_a_new_reason_fires_once_even_after_a_late_report_of_it(workspace, target):
    alert = make_alert(workspace, target, kind=Alert.NEW_REASON, minimum=1)
    production = environment_of(workspace)
    add_verifications(production, NOW - 20 * DAY, "expired", 5)
    add_verifications(production, NOW, "expired", 5)
    add_verifications(production, NOW, "accepted", 500)
    assert evaluate(alert.pk, now=NOW) == 0
    add_verifications(production, NOW, "replayed", 2)
    assert evaluate(alert.pk, now=NOW + MINUTE) == 1
    add_verifications(production, NOW - HOUR, "replayed", 2)
    assert evaluate(alert.pk, now=NOW + 2 * MINUTE) == 0
    event = Event.objects.get()
    assert event.title == "New rejection reason in production: replayed"
    address = urlsplit(event.url)
    query = dict(parse_qsl(address.query))
    assert (address.path[-22:], query["reason"]) == ("/production/rejections", "replayed")
    for zone in ("Pacific/Kiritimati", "UTC", "Pacific/Pago_Pago"):  # the page shows the event, whenever it is opened
        period = parse_period({**query, "tz": zone}, now=NOW + 60 * DAY)
        assert (period.faults, period.start <= event.at < period.end) == ((), True)
    assert event.facts["count"] == 2


def test_a_reason_that_lasts_for_months_does_not_fire_when_it_reaches_the_minimum(workspace, target):
    alert = make_alert(workspace, target, kind=Alert.NEW_REASON, minimum=310)
    for day in range(90):
        add_verifications(environment_of(workspace), NOW - day * DAY - HOUR, "expired", 10)
    assert evaluate(alert.pk, now=NOW) == 0


@pytest.mark.parametrize(("seconds_after", "fired"), [(-5, 0), (5, 1)])
def test_a_reason_fires_only_if_it_occurs_after_the_alert_was_made(workspace, target, seconds_after, fired):
    """Verifications are counted by quarter hour, and the alert was made within one."""
    made_at = floor_to_quarter(NOW) + 5 * MINUTE
    alert = make_alert(workspace, target, kind=Alert.NEW_REASON, minimum=1, now=made_at + DAY)
    last_at = made_at + timedelta(seconds=seconds_after)
    add_verifications(environment_of(workspace), last_at, "expired", 3)
    assert evaluate(alert.pk, now=made_at + MINUTE) == fired
    add_verifications(environment_of(workspace), last_at + QUARTER, "expired", 1)
    assert evaluate(alert.pk, now=made_at + 2 * QUARTER) == 0


def test_a_jump_of_rejections_fires_after_its_quarter_hour(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.REJECTIONS, now=quarter, minutes=15, minimum=10)
    production = environment_of(workspace)
    for days in range(1, 7):
        add_verifications(production, NOW - days * DAY, "accepted", 1000)
        add_verifications(production, NOW - days * DAY, "expired", 2)
    add_verifications(production, quarter, "expired", 40)
    add_verifications(production, quarter, "accepted", 960)
    assert evaluate(alert.pk, now=quarter + QUARTER) == 0  # reports of that quarter hour may still arrive
    assert evaluate(alert.pk, now=quarter + QUARTER + 2 * MINUTE) == 1
    assert evaluate(alert.pk, now=quarter + QUARTER + 4 * MINUTE) == 0
    assert evaluate(alert.pk, now=quarter + 2 * QUARTER + 2 * MINUTE) == 0
    event = Event.objects.get()
    assert event.title == "Rejected calls in production: 4.0 % (40 of 1,000), usually 0.2 %"


def test_a_jump_fires_once_even_after_late_reports_of_its_first_hours(workspace, target):
    """A backend that could not reach the hub reports its rejections of the night hours after another backend."""
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.REJECTIONS, minutes=15, minimum=10)
    production = environment_of(workspace)
    for days in range(1, 7):
        add_verifications(production, NOW - days * DAY, "accepted", 100_000)
    for number in range(1, 9):
        add_verifications(production, quarter - number * QUARTER, "expired", 40)
    assert evaluate(alert.pk, now=quarter + 2 * MINUTE) == 1
    for number in range(1, 24):
        add_verifications(production, quarter - 2 * HOUR - number * QUARTER, "replayed", 40)
    assert evaluate(alert.pk, now=quarter + QUARTER + 2 * MINUTE) == 0
    assert evaluate(alert.pk, now=quarter + 6 * HOUR) == 0


def test_what_happened_while_no_worker_ran_for_days_fires_once_it_runs_again(workspace, target):
    quarter = floor_to_quarter(NOW)
    jump = make_alert(workspace, target, kind=Alert.REJECTIONS, now=quarter - 3 * DAY, minutes=15, minimum=10)
    reason = make_alert(workspace, target, kind=Alert.NEW_REASON, now=quarter - 3 * DAY, minimum=1)
    assert evaluate_all(now=quarter - 3 * DAY) == 0
    production = environment_of(workspace)
    for days in range(4, 9):
        add_verifications(production, NOW - days * DAY, "accepted", 100_000)
    for number in range(1, 2 * 96):  # from two days ago until now
        add_verifications(production, quarter - number * QUARTER, "expired", 40)
    assert evaluate_all(now=quarter + 3 * MINUTE) == 2
    assert set(Event.objects.values_list("alert_id", flat=True)) == {jump.pk, reason.pk}
    for later in (QUARTER, HOUR, DAY):
        assert evaluate_all(now=quarter + 3 * MINUTE + later) == 0


def test_a_jump_of_broken_joins_fires_with_its_rate_and_the_usual_one(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.BROKEN_JOINS, minutes=60, minimum=20, percent=1, factor=3)
    production = environment_of(workspace)
    register_conversations(production, [Arrival(f"c{n}") for n in range(80)], now=quarter - 2 * DAY)
    record_outcomes(production, [Report(f"c{n}", "purchase") for n in range(80)], now=quarter - 2 * DAY)
    record_outcomes(production, [Report(f"x{n}", "purchase") for n in range(25)], now=quarter - MINUTE)
    assert evaluate(alert.pk, now=quarter + 3 * MINUTE) == 1
    assert Event.objects.get().title == "Broken joins in production: 100 % (25 of 25), usually 0 %"


def test_a_silent_reporter_fires_once_for_each_silence(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4, now=quarter + HOUR)
    production = environment_of(workspace)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter="shop", starts_at=quarter - n * QUARTER) for n in range(1, 50)
    )
    assert evaluate(alert.pk, now=quarter + HOUR) == 0
    assert evaluate(alert.pk, now=quarter + HOUR + 3 * MINUTE) == 1
    assert evaluate(alert.pk, now=quarter + 2 * HOUR) == 0
    ReporterActivity.objects.create(environment=production, reporter="shop", starts_at=quarter + 2 * HOUR)
    assert evaluate(alert.pk, now=quarter + 3 * HOUR) == 0
    assert Event.objects.count() == 1
    assert Event.objects.get().title.startswith("shop is silent in production, last report before ")


def test_after_an_outage_only_reporters_that_stay_silent_fire_and_each_of_them_once(workspace, target):
    quarter = floor_to_quarter(NOW) - 3 * DAY
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4, now=quarter)
    production = environment_of(workspace)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter=reporter, starts_at=quarter - n * QUARTER)
        for reporter in ("comes back", "gone")
        for n in range(1, 50)
    )

    def evaluate_often(since: timedelta, until: timedelta) -> int:
        moments = [quarter + since + n * 9 * MINUTE for n in range(int((until - since) / (9 * MINUTE)))]
        return sum(evaluate(alert.pk, now=moment) for moment in moments)

    assert evaluate_often(0 * HOUR, HOUR / 2) == 0
    assert evaluate_often(30 * HOUR, 30.45 * HOUR) == 0  # the hub was down for more than a day
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter="comes back", starts_at=quarter + 30.5 * HOUR + n * QUARTER)
        for n in range(200)
    )
    assert evaluate_often(30.45 * HOUR, 62 * HOUR) == 1
    event = Event.objects.get()
    assert (event.subject, event.at) == ("gone", quarter + 31 * HOUR)


def test_a_hub_that_is_off_every_night_does_not_fire_again_for_events_that_are_no_longer_kept(api, workspace, target):
    alert = make_alert(workspace, target)
    RetentionPolicy.objects.create(workspace=workspace.workspace, alerts=4)
    break_operation(api, workspace)
    evening = timezone.now() + MINUTE
    assert evaluate(alert.pk, now=evening) == 1
    Delivery.objects.update(state=Delivery.DELIVERED)
    for days in range(1, 6):
        assert evaluate(alert.pk, now=evening + days * DAY - 12 * HOUR) == 0
        prune_workspace(workspace.workspace, now=evening + days * DAY)
        assert evaluate(alert.pk, now=evening + days * DAY) == 0
    assert not Event.objects.exists()


@pytest.mark.parametrize("ahead", [HOUR, 365 * DAY])
def test_a_change_fires_after_the_clock_was_set_ahead_and_back(api, workspace, target, ahead):
    make_alert(workspace, target)
    resumed = make_alert(workspace, target)
    pause_alert(resumed, actor="ada", now=NOW + ahead)
    resume_alert(resumed, actor="ada", now=NOW + ahead)
    assert evaluate_all(now=NOW + ahead) == 0
    assert evaluate_all(now=timezone.now()) == 0
    break_operation(api, workspace)
    assert evaluate_all(now=timezone.now() + MINUTE) == 2


def test_a_jump_fires_after_the_clock_was_set_ahead_and_back(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.REJECTIONS, minutes=15, minimum=10)
    production = environment_of(workspace)
    add_verifications(production, NOW - 2 * DAY, "accepted", 10_000)
    assert evaluate(alert.pk, now=quarter + 30 * DAY) == 0
    add_verifications(production, quarter - QUARTER, "expired", 40)
    assert evaluate(alert.pk, now=quarter + 2 * MINUTE) == 1


def test_a_silence_fires_after_the_clock_was_set_ahead_and_back(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=environment_of(workspace), reporter="shop", starts_at=quarter - n * QUARTER)
        for n in range(1, 50)
    )
    evaluated_at = [quarter, quarter + 365 * DAY, *(quarter + n * QUARTER / 2 for n in range(1, 12))]
    assert [evaluate(alert.pk, now=now) for now in evaluated_at].count(1) == 1
    assert Event.objects.get().at <= quarter + 1.5 * HOUR


def test_reporters_of_an_archived_environment_are_not_silent_because_it_refuses_their_reports(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4, environment="staging")
    staging = environment_of(workspace, "staging")
    for name, last in (("shop", quarter), ("silent before", quarter - 2 * HOUR)):
        ReporterActivity.objects.bulk_create(
            ReporterActivity(environment=staging, reporter=name, starts_at=last - n * QUARTER) for n in range(1, 50)
        )
    archive_environment(staging, actor="ada", now=quarter)
    assert evaluate(alert.pk, now=quarter + 2 * HOUR) == 1
    assert Event.objects.get().subject == "silent before"
    (row,) = preview(environment_of(workspace, "staging"), Alert.SILENT, alert.thresholds, now=quarter + 2 * HOUR).rows
    assert row.happening.subject == "silent before"


def test_after_an_environment_was_restored_only_reporters_that_stay_silent_fire(workspace, target):
    quarter = floor_to_quarter(NOW) - 3 * DAY
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4, environment="staging", now=quarter)
    staging = environment_of(workspace, "staging")
    restored_at = quarter + 3 * HOUR
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=staging, reporter=reporter, starts_at=quarter - n * QUARTER)
        for reporter in ("comes back", "gone")
        for n in range(1, 50)
    )

    def evaluate_often(since: datetime, until: datetime) -> int:
        moments = [since + n * 9 * MINUTE for n in range(int((until - since) / (9 * MINUTE)))]
        return sum(evaluate(alert.pk, now=moment) for moment in moments)

    archive_environment(staging, actor="ada", now=quarter)
    assert evaluate_often(quarter, restored_at) == 0
    restore_environment(staging, actor="ada", now=restored_at)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=staging, reporter="comes back", starts_at=restored_at + HOUR / 2 + n * QUARTER)
        for n in range(20)
    )
    evaluate_often(restored_at, restored_at + 2 * HOUR)
    event = Event.objects.get()
    assert (event.subject, event.at) == (
        "gone",
        restored_at - 9 * MINUTE + HOUR,
    )  # an hour after the last evaluation before


def test_a_silence_that_is_shorter_than_a_pause_two_weeks_ago_does_not_fire(workspace, target):
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4)
    last = floor_to_quarter(NOW) - 2.7 * DAY
    pauses = ((last - 14 * DAY, last - 10 * DAY), (last - 7 * DAY, last - 4.5 * DAY))
    moments = [last - n * QUARTER for n in range(1, 30 * 96)]
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=environment_of(workspace), reporter="shop", starts_at=moment)
        for moment in moments
        if not any(start <= moment < end for start, end in pauses)
    )
    assert evaluate(alert.pk, now=NOW) == 0


def test_a_reporter_whose_reports_wait_for_a_worker_is_not_silent(api, workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4)
    production = environment_of(workspace)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter="shop", starts_at=quarter - n * QUARTER) for n in range(3, 50)
    )
    body = report(observation(), reporter="shop")
    assert api.post("/api/witness-reports", body).status_code == 202
    WitnessReport.objects.update(received_at=quarter)
    assert evaluate(alert.pk, now=quarter + 3 * QUARTER) == 0


def test_a_reporter_whose_reports_become_dead_letters_is_not_silent(api, workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4)
    production = environment_of(workspace)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter="shop", starts_at=quarter - n * QUARTER) for n in range(3, 50)
    )
    assert api.post("/api/witness-reports", report(observation(), reporter="shop")).status_code == 202
    WitnessReport.objects.update(received_at=quarter, sums=[{"method": "GET"}])
    fold_reports(production)
    assert WitnessReport.objects.get().dead_lettered_at
    assert evaluate(alert.pk, now=quarter + 3 * QUARTER) == 0


def test_a_short_retention_of_alerts_does_not_make_usual_pauses_silences(workspace, target):
    alert = make_alert(workspace, target, kind=Alert.SILENT, minutes=60, minimum=4)
    last = floor_to_quarter(NOW) - 4 * HOUR
    moments = [last - n * QUARTER for n in range(10 * 96)]
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=environment_of(workspace), reporter="shop", starts_at=moment)
        for moment in moments
        if not last - 7 * DAY <= moment < last - 4.5 * DAY
    )
    assert evaluate(alert.pk, now=NOW) == 0
    RetentionPolicy.objects.create(workspace=workspace.workspace, alerts=4)
    prune_workspace(workspace.workspace, now=NOW)
    assert evaluate(alert.pk, now=NOW + MINUTE) == 0


def test_a_short_retention_of_alerts_does_not_make_usual_pauses_silences_in_the_preview(workspace):
    production = environment_of(workspace)
    last = floor_to_quarter(NOW)
    moments = [last - n * QUARTER for n in range(1, 62 * 96)]
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter="shop", starts_at=moment)
        for moment in moments
        if (last - moment) % (12 * DAY) < 10 * DAY  # silent for two of twelve days
    )
    RetentionPolicy.objects.create(workspace=workspace.workspace, alerts=4)
    thresholds = Thresholds(minutes=60, minimum=4)
    assert preview(production, Alert.SILENT, thresholds, now=NOW).rows == []
    prune_workspace(workspace.workspace, now=NOW)
    assert preview(production, Alert.SILENT, thresholds, now=NOW).rows == []


def test_a_paused_alert_does_not_fire_later_for_what_happened_during_the_pause(api, workspace, target):
    alert = make_alert(workspace, target)
    pause_alert(alert, actor="ada", now=NOW)
    break_operation(api, workspace)
    assert evaluate_all(now=timezone.now()) == 0
    now = timezone.now()
    resume_alert(alert, actor="ada", now=now)
    assert evaluate_all(now=now) == 0
    break_operation(api, workspace, 2)
    assert evaluate_all(now=timezone.now() + MINUTE) == 1


def test_an_alert_with_new_thresholds_does_not_fire_for_earlier_changes(api, workspace, target):
    alert = make_alert(workspace, target)
    break_operation(api, workspace)
    settings = AlertSettings(alert.environment, Alert.DRIFT, Thresholds(minimum=7), [target.pk], "")
    change_alert(alert, settings, actor="ada", now=timezone.now())
    assert evaluate_all(now=timezone.now() + MINUTE) == 0


def test_what_fired_in_one_environment_fires_again_after_the_alert_was_changed_to_another(workspace, target):
    alert = make_alert(workspace, target, kind=Alert.NEW_REASON, minimum=1, environment="staging")
    staging, production = environment_of(workspace, "staging"), environment_of(workspace)
    now = floor_to_quarter(NOW)
    add_verifications(staging, now, "replayed", 2)
    assert evaluate(alert.pk, now=now + MINUTE) == 1
    settings = AlertSettings(production, Alert.NEW_REASON, Thresholds(minimum=1), [target.pk], "")
    change_alert(alert, settings, actor="ada", now=now + 2 * MINUTE)
    add_verifications(production, now + 3 * MINUTE, "replayed", 2)  # in the quarter hour of the first event
    assert evaluate(alert.pk, now=now + 4 * MINUTE) == 1
    assert [event.facts["environment"] for event in Event.objects.order_by("pk")] == ["staging", "production"]


def test_a_jump_fires_after_the_alert_was_changed_to_another_kind(workspace, target):
    quarter = floor_to_quarter(NOW)
    alert = make_alert(workspace, target, kind=Alert.REJECTIONS, now=quarter, minutes=60, minimum=20)
    production = environment_of(workspace)
    add_verifications(production, quarter, "expired", 40)
    assert evaluate(alert.pk, now=quarter + QUARTER + 2 * MINUTE) == 1
    settings = AlertSettings(production, Alert.BROKEN_JOINS, Thresholds(minutes=60, minimum=20), [target.pk], "")
    change_alert(alert, settings, actor="ada", now=quarter + QUARTER + 3 * MINUTE)
    reports = [Report(f"x{n}", "purchase") for n in range(25)]
    record_outcomes(production, reports, now=quarter + QUARTER + 4 * MINUTE)
    assert evaluate(alert.pk, now=quarter + 2 * QUARTER + 2 * MINUTE) == 1


def test_an_alert_that_fails_does_not_keep_others_from_firing(api, workspace, target, monkeypatch):
    bad, _ = make_alert(workspace, target, kind=Alert.SILENT), make_alert(workspace, target)
    break_operation(api, workspace)
    find = fire.find_happenings

    def fail(environment, kind, *arguments, **keywords):
        if kind == Alert.SILENT:
            raise ValueError
        return find(environment, kind, *arguments, **keywords)

    monkeypatch.setattr(fire, "find_happenings", fail)
    assert evaluate_all(now=timezone.now()) == 1
    bad.refresh_from_db()
    assert bad.evaluated_at is not None


def test_a_jump_fires_a_minute_after_an_evaluation_that_failed(workspace, target, monkeypatch):
    quarter = floor_to_quarter(NOW)
    make_alert(workspace, target, kind=Alert.BROKEN_JOINS, now=quarter - HOUR, minutes=60, minimum=20)
    reports = [Report(f"x{n}", "purchase") for n in range(25)]
    record_outcomes(environment_of(workspace), reports, now=quarter - MINUTE)
    with monkeypatch.context() as broken:
        broken.setattr(fire, "queue_deliveries", lambda *arguments, **keywords: 1 / 0)
        assert evaluate_all(now=quarter + 3 * MINUTE) == 0
    assert evaluate_all(now=quarter + 4 * MINUTE) == 1
    assert evaluate_all(now=quarter + 5 * MINUTE) == 0


def test_an_event_outlives_its_alert(api, workspace, target):
    alert = make_alert(workspace, target)
    break_operation(api, workspace)
    evaluate_all(now=timezone.now())
    delete_alert(alert, actor="ada", now=NOW)
    assert Delivery.objects.get().event.alert_id == alert.pk


def test_the_database_refuses_a_second_event_for_one_firing(workspace, target):
    columns = {"workspace": workspace.workspace, "alert_id": 1, "kind": "drift.breaking", "subject": "1:1", "at": NOW}
    events = [Event(**columns, key="1:1@0", title="x", fired_at=NOW) for _ in range(2)]
    assert len(Event.objects.bulk_create(events, ignore_conflicts=True)) == 2
    assert Event.objects.count() == 1
