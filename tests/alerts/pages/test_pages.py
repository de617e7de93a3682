"""The pages of alerts: creating with a preview, changing, pausing, testing, and the log of deliveries."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from alerts.evaluation.fire import evaluate_all
from alerts.models import Alert, Delivery, Target
from alerts.rules.thresholds import Thresholds
from alerts.setup import targets
from alerts.setup.rotate_webhook_secret import rotate_webhook_secret
from alerts.setup.send_test_message import send_test
from alerts.setup.target_address import CheckedAddress
from alerts.setup.targets import change_target, delete_target
from catalog.models import Drift, ReporterActivity
from intents.models import ALL_VERSIONS, VerificationRollup
from intents.reports.verification import ACCEPTED
from tests.alerts.alerts import deliver_due, make_alert, make_target
from tests.catalog.reports import deliver, environment_of, observation
from wire.errors import InvalidRequest
from wire.time.period import floor_to_quarter
from workspaces.environments.change import archive_environment
from workspaces.models import AuditEntry, Environment, Membership

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/alerts"
LOG = "/w/lumen-books/production/deliveries"
FORM = {
    "kind": "drift.breaking", "environment": "production", "reason_minimum": "1", "minimum": "20", "minutes": "60",
    "percent": "1", "factor": "3", "silent_minutes": "60",
}  # fmt: skip


def client_with(role: str, created) -> Client:
    user = get_user_model().objects.create_user(f"{role} of {created.workspace.slug}")
    Membership.objects.create(workspace=created.workspace, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def admin(workspace) -> Client:
    return client_with(Membership.ADMIN, workspace)


@pytest.fixture
def target(workspace, receiver) -> Target:
    return make_target(workspace, receiver.url)[0]


def read(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def break_operation(api, workspace) -> None:
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    deliver(api, workspace, *[observation(response={"id": "1"})] * 30)


def test_a_page_without_alerts_says_what_to_do(admin):
    text = read(admin, PAGE)
    assert "No alert yet" in text
    assert "No target yet" in text
    assert "No reporter in production yet" in text
    assert "Would not have fired" not in text


@pytest.mark.parametrize(
    ("kind", "words"),
    [("reporter.silent", "No reporter"), ("rejections.spike", "No verification"), ("broken-joins.spike", "No outcome")],
)
def test_where_nothing_was_observed_the_preview_gives_no_verdict(admin, api, workspace, kind, words):
    deliver(api, workspace, observation(response={"id": 1}))
    text = read(admin, f"{PAGE}?kind={kind}&environment=staging")
    assert f"{words} in staging yet" in text
    assert "Would not have fired" not in text
    assert 'id="alert-days"' not in text


def test_a_webhook_s_secret_is_shown_once(admin, receiver):
    form = {"kind": "webhook", "name": "ops", "address": receiver.url}
    answer = admin.post(f"{PAGE}/targets/create", form)
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}#new")
    text = read(admin, PAGE)
    assert len(re.findall(r"whsec_[\w+/=]+", text)) == 1
    assert receiver.url.partition("/hooks")[0] in text
    assert "s3cret" not in text
    assert "whsec_" not in read(admin, PAGE)
    assert "s3cret" not in repr(list(AuditEntry.objects.values()))


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"address": "http://127.0.0.1/x"}, "not public"),
        ({"address": "https://10.0.0.1/x"}, "WEBHOOK_PRIVATE_TARGETS"),
        ({"address": "https://169.254.169.254/latest/meta-data"}, "not public"),
        ({"address": "ftp://x"}, "Begin the address with https://"),
        ({"address": ""}, "Enter an address."),
        ({"name": ""}, "Enter a name."),
        ({"kind": "pager"}, "Select a valid choice"),
        ({"kind": "email", "address": "ada@example.com"}, "EMAIL_URL"),
    ],
)
def test_a_target_that_is_refused_is_shown_again_with_the_reason(admin, form, message):
    answer = admin.post(f"{PAGE}/targets/create", {"kind": "webhook", "name": "ops", "address": "https://x", **form})
    assert answer.status_code == 200
    page = " ".join(answer.content.decode().split())
    assert message in page
    assert f'hx-get="{PAGE}"' in page, "the preview of the other form works as before"
    assert '<p class="soft"> To save it, <a href="#new-target">add a target</a>' in page, "no fault of the other form"
    assert not Target.objects.exists()


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"address": "https://ada:secret@example.com/x"}, "address"),
        ({"address": "https://EXAMPLE_HOST/x"}, "address"),
        ({"name": "a\u200bb"}, "name"),
    ],
)
def test_an_error_of_a_target_stands_at_the_field_that_it_is_about(admin, receiver, form, field):
    answer = admin.post(f"{PAGE}/targets/create", {"kind": "webhook", "name": "ops", "address": receiver.url, **form})
    assert list(answer.context["target_form"].errors) == [field]


def test_the_error_for_mail_addresses_that_are_too_long_together_names_the_limit(admin, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    recipients = [f"somebody.with.a.long.name.{n}@department.customer.example" for n in range(10)]
    form = {"kind": "email", "name": "people", "address": ", ".join(recipients)}
    answer = admin.post(f"{PAGE}/targets/create", form)
    assert "more than 500 characters" in answer.context["target_form"].errors["address"][0]
    form["address"] = ", ".join(recipients[:8])
    assert admin.post(f"{PAGE}/targets/create", form).status_code == 303
    answer = admin.post(f"{PAGE}/targets/{Target.objects.get().pk}/change", {**form, "address": ", ".join(recipients)})
    assert "more than 500 characters" in answer.content.decode()


def test_an_error_about_the_number_of_targets_stands_at_no_field(admin, target, receiver, monkeypatch):
    monkeypatch.setattr(targets, "MAX_TARGETS", 1)
    answer = admin.post(f"{PAGE}/targets/create", {"kind": "webhook", "name": "more", "address": receiver.url})
    assert list(answer.context["target_form"].errors) == ["__all__"]
    assert "Delete one first." in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "error"),
    [("ops\u200d", "invisible characters"), ("o\tps", "invisible characters"), ("o" * 61, "at most 60")],
)
def test_the_error_for_a_name_of_a_target_says_what_is_wrong_with_it(admin, receiver, name, error):
    answer = admin.post(f"{PAGE}/targets/create", {"kind": "webhook", "name": name, "address": receiver.url})
    assert error in answer.context["target_form"].errors["name"][0]


def test_two_targets_cannot_have_the_same_name(admin, target, receiver):
    answer = admin.post(f"{PAGE}/targets/create", {"kind": "slack", "name": "ops", "address": receiver.url})
    assert "Another target has this name" in answer.content.decode()


def test_before_saving_the_preview_shows_when_the_alert_would_have_fired(admin, api, workspace, target):
    break_operation(api, workspace)
    text = read(admin, PAGE)
    assert "Would have fired 1 time in the last 30 days" in text
    assert "Breaking drift in production: GET /orders/{orderId}, 200 /id" in text
    assert not Alert.objects.exists()
    Drift.objects.update(at=timezone.now() - timedelta(days=31))
    assert "Would not have fired" in read(admin, PAGE)
    text = read(admin, f"{PAGE}?kind=rejections.spike&minimum=5&minutes=15&percent=2&factor=1.5&environment=staging")
    assert "Rejected calls: 5 or more in 15 minutes, at least 2 % and 1.5 times the usual share, in staging" in text


def read_chart(client: Client, query: str = "") -> tuple[dict, list[str]]:
    """Return the figure of the preview, and the rows of its table that are not all 0."""
    text = read(client, f"{PAGE}{query}")
    (figure,) = re.findall(r'<script id="alert-days-figure" type="application/json">(.*?)</script>', text)
    days = re.findall(r'<tr> <th scope="row">[^<]*</th> (<td class="num">.*?)</tr>', text)
    cells = [" ".join(re.findall(r">([\d,.]+)<", day)) for day in days]
    return json.loads(figure), [row for row in cells if row != "0 0"]


def test_a_chart_shows_what_the_rule_counts_and_its_threshold(admin, api, workspace):
    break_operation(api, workspace)
    figure, rows = read_chart(admin)
    bars, diamonds = figure["data"]
    assert (len(bars["x"]), sum(bars["y"])) == (31, 1)
    assert diamonds["x"] == [bars["x"][bars["y"].index(1)]]
    assert [(shape["y0"], shape["y1"]) for shape in figure["layout"]["shapes"]] == [(1, 1)]
    assert rows == ["1 1"]


def test_the_chart_of_drift_counts_changes_and_not_only_those_that_fire(admin, api, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "total": 1})] * 30)
    deliver(api, workspace, *[observation(response={"id": "1", "total": "1"})] * 30)
    assert Drift.objects.count() == 2
    figure, rows = read_chart(admin)
    assert (sum(figure["data"][0]["y"]), rows) == (2, ["2 1"])


@pytest.mark.parametrize(("minimum", "firings"), [(5, 1), (9, 0)])
def test_the_chart_counts_cases_over_the_time_span_of_the_alert(admin, workspace, minimum, firings):
    quarter = floor_to_quarter(timezone.now()) - timedelta(days=3)
    for minutes, result, count in ((0, "expired", 4), (15, "expired", 4), (30, ACCEPTED, 9), (90, "expired", 3)):
        VerificationRollup.objects.create(
            environment=environment_of(workspace), grain="q", starts_at=quarter + timedelta(minutes=minutes),
            version=ALL_VERSIONS, result=result, shard=0, count=count,
            last_at=quarter,
        )  # fmt: skip
    query = f"?kind=rejections.spike&environment=production&minutes=60&minimum={minimum}&percent=1&factor=3"
    figure, _ = read_chart(admin, query + "&reason_minimum=1&silent_minutes=60")
    assert max(figure["data"][0]["y"]) == 8
    text = read(admin, f"{PAGE}{query}&reason_minimum=1&silent_minutes=60&range=30d&tz=Asia/Kathmandu")
    assert re.search("Highest: 8 on [^(]+ \\(100 %, usual 0 %\\)\\.", text)
    judged = re.search(r'Judged up to <time datetime="([^"]+)"', text)
    assert judged is not None
    age = timezone.now() - datetime.fromisoformat(judged[1])
    assert timedelta(minutes=2) <= age <= timedelta(minutes=17, seconds=30)
    assert re.search(r'<td class="num">8</td> <td class="num">100 %</td> <td class="num">0 %</td>', text)
    assert len(figure["data"][1]["x"]) == firings
    assert figure["layout"]["shapes"][0]["y0"] == minimum
    offer = re.search(r'<a href="([^"]+)">A minimum of 5 in place of 9</a> would have fired 1 time\.', text)
    assert (offer is not None) == (not firings)
    if offer:
        lower = read(admin, unescape(offer[1]))
        assert "Would have fired 1 time in the last 30 days" in lower
        assert 'name="minimum" value="5"' in lower
        assert "in place of" not in lower
        assert "Times in Asia/Kathmandu" in lower
        assert f'href="{LOG}?range=30d&amp;tz=Asia%2FKathmandu"' in lower


@pytest.mark.parametrize(("days", "is_offered"), [(9, True), (12, False)])
def test_no_lower_minimum_is_offered_that_would_fire_all_the_time(admin, workspace, days, is_offered):
    noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
    VerificationRollup.objects.bulk_create(
        VerificationRollup(
            environment=environment_of(workspace), grain="q", starts_at=noon - timedelta(days=2 * day, hours=hours),
            version=ALL_VERSIONS, result=result, shard=0, count=count, last_at=noon - timedelta(days=2 * day),
        )
        for day in range(1, days + 1)
        for hours, result, count in ((0, "expired", 4), (6, ACCEPTED, 1000))
    )  # fmt: skip
    query = "?kind=rejections.spike&environment=production&minutes=60&minimum=9&percent=1&factor=3"
    text = read(admin, f"{PAGE}{query}&reason_minimum=1&silent_minutes=60")
    assert ("in place of 9</a> would have fired 9 times." in text) is is_offered
    assert ("in place of" in text) is is_offered


@pytest.mark.parametrize("is_usual", [True, False])
def test_a_preview_of_silence_says_why_bars_above_the_line_did_not_fire(admin, workspace, is_usual):
    now = floor_to_quarter(timezone.now())
    hours = range(2, 200, 5) if is_usual else [2, 2.25, 2.5, 2.75, 3]
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=environment_of(workspace), reporter="shop", starts_at=now - timedelta(hours=hour))
        for hour in hours
    )
    text = read(admin, f"{PAGE}?kind=reporter.silent&environment=production&silent_minutes=60")
    assert "longer than any pause of the reporter's 15 days before" in text
    assert ("Would not have fired" in text) is is_usual
    assert ("Here each silence was usual" in text) is is_usual
    assert ("Longest: shop, 4.75 h, " in text) is is_usual


def test_a_preview_of_silence_names_the_reporter_of_each_longest_silence(admin, workspace):
    now = floor_to_quarter(timezone.now())
    production = environment_of(workspace)
    ReporterActivity.objects.bulk_create(
        ReporterActivity(environment=production, reporter=reporter, starts_at=now - timedelta(hours=hour))
        for reporter, pause in (("shop", 5), ("<b>job</b>", 7))
        for hour in range(2, 200, pause)
    )
    query = "?kind=reporter.silent&environment=production&silent_minutes=60"
    figure, _days = read_chart(admin, query)
    bars, _ = figure["data"]
    assert "&lt;b&gt;job&lt;/b&gt;, 6.75 h" in bars["text"]
    assert bars["hovertemplate"] == "%{text}<extra></extra>"
    text = read(admin, f"{PAGE}{query}")
    assert re.search(r'<td class="num">6.75</td> <td[^>]*>&lt;b&gt;job&lt;/b&gt;</td>', text)
    assert '<th scope="col">Reporter</th>' in text
    assert "Longest: &lt;b&gt;job&lt;/b&gt;, 6.75 h, " in text
    assert '<th scope="col">Reporter</th>' not in read(admin, f"{PAGE}?kind=rejections.new-reason")


def test_no_lower_number_is_offered_where_none_would_have_fired(admin):
    assert "in place of" not in read(admin, f"{PAGE}?kind=rejections.spike&minimum=20")
    assert "in place of" not in read(admin, f"{PAGE}?kind=rejections.new-reason&reason_minimum=20")
    assert "in place of" not in read(admin, f"{PAGE}?kind=rejections.spike&minimum=x")


def test_a_target_made_for_a_filled_form_returns_to_it_and_is_chosen(admin, receiver):
    address = f"{PAGE}?range=7d&kind=rejections.spike&minimum=5&done=test"
    assert '<a href="#new-target">add a target</a>' in read(admin, address)
    form = {"kind": "webhook", "name": "ops", "address": receiver.url}
    answer = admin.post(f"{PAGE}/targets/create", form, headers={"referer": f"http://testserver{address}"})
    target = Target.objects.get()
    assert answer["Location"] == f"{PAGE}?range=7d&kind=rejections.spike&minimum=5&targets={target.pk}#new"
    text = read(admin, answer["Location"].partition("#")[0])
    assert 'name="minimum" value="5"' in text
    assert re.search(f'name="targets" value="{target.pk}" checked', text)


def test_a_target_that_is_refused_keeps_the_form_of_the_new_alert(admin, receiver):
    address = f"{PAGE}?range=7d&kind=rejections.spike&minimum=5"
    refused = {"kind": "webhook", "name": "ops", "address": "https://unknown.invalid/x"}
    answer = admin.post(f"{PAGE}/targets/create", refused, headers={"referer": f"http://testserver{address}"})
    page = answer.content.decode()
    assert 'class="fault"' in page
    assert re.search(r'value="rejections.spike" checked', page)
    assert 'name="minimum" value="5"' in page
    (next_address,) = re.findall(r'action="([^"#]*/targets/create[^"#]*)', page)
    form, referer = {**refused, "address": receiver.url}, f"http://testserver{PAGE}/targets/create"
    answer = admin.post(unescape(next_address), form, headers={"referer": referer})
    assert "kind=rejections.spike&minimum=5&targets=" in answer["Location"]


def test_a_change_of_a_target_that_is_refused_twice_keeps_the_form_of_the_new_alert(admin, target):
    """The first Referer is the page, the second the address of the refused form."""
    address = f"{PAGE}?target={target.pk}&range=7d&kind=rejections.spike&minimum=5"
    for referer in (address, f"{PAGE}/targets/{target.pk}/change?target={target.pk}"):
        (action,) = re.findall(r'action="([^"]*/change[^"]*)"', read(admin, address))
        headers = {"referer": f"http://testserver{referer}"}
        form = {"name": "on call", "address": "https://192.168.0.1"}
        page = admin.post(unescape(action), form, headers=headers).content.decode()
        assert "Change “ops”" in page
        assert re.search(r'value="rejections.spike" checked', page)
        assert 'name="minimum" value="5"' in page


def test_another_alert_is_paused_without_losing_the_form_that_is_filled_in(admin, workspace, target):
    alert = make_alert(workspace, target)
    for form in (f"kind=rejections.spike&minimum=5&targets={target.pk}", f"edit={alert.pk}", "new=1"):
        referer = f"http://testserver{PAGE}?range=7d&{form}&done=test"
        for action in ("pause", "resume"):
            answer = admin.post(f"{PAGE}/{alert.pk}/{action}", headers={"referer": referer})
            assert answer["Location"] == f"{PAGE}?range=7d&{form}"
    referer = f"http://testserver{PAGE}?range=7d&delete={alert.pk}"
    assert admin.post(f"{PAGE}/{alert.pk}/delete", headers={"referer": referer})["Location"] == f"{PAGE}?range=7d"


def test_a_target_that_cannot_be_deleted_or_changed_keeps_the_form_that_is_filled_in(admin, workspace, target):
    make_alert(workspace, target)
    referer = (
        f"http://testserver{PAGE}?range=7d&kind=rejections.spike&minimum=77&targets={target.pk}&target={target.pk}"
    )
    for action, fault in [("delete", "Give it another target first"), ("change", "Enter a name")]:
        answer = admin.post(f"{PAGE}/targets/{target.pk}/{action}", headers={"referer": referer})
        page = answer.content.decode()
        assert fault in page
        assert 'id="alert-form"' in page
        assert 'name="minimum" value="77"' in page


def test_a_button_stands_in_place_of_the_form_of_a_new_alert_while_there_are_alerts(admin, target):
    """The button opens the form."""
    assert 'id="alert-form"' in read(admin, PAGE)
    admin.post(f"{PAGE}/create", {**FORM, "targets": [target.pk]})
    page = read(admin, PAGE)
    assert 'id="alert-form"' not in page
    (address,) = re.findall(r'href="([^"#]*)#alert">New alert<', page)
    assert 'id="alert-form"' in read(admin, address)


def test_the_page_has_the_same_order_with_and_without_a_target(admin, receiver, workspace):
    def order() -> list[str]:
        return re.findall(r'id="(alert|targets)"', read(admin, PAGE))

    assert order() == ["alert", "targets"]
    make_target(workspace, receiver.url)
    assert order() == ["alert", "targets"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": []}, "Choose at least one target."),
        ({"kind": "x"}, "Select a valid choice"),
        ({"environment": "x"}, "Select a valid choice"),
        ({"kind": "rejections.spike", "minimum": "many"}, "Enter a number."),
        ({"kind": "rejections.spike", "percent": "nan"}, "Enter a number."),
        ({"kind": "rejections.spike", "factor": "0"}, "greater than or equal to 1"),
        ({"kind": "reporter.silent", "silent_minutes": "7"}, "Select a valid choice"),
        ({"targets": ["999999"]}, "Select a valid choice"),
    ],
)
def test_a_form_that_is_refused_is_shown_again_with_the_reason(admin, target, change, message):
    answer = admin.post(f"{PAGE}/create", {**FORM, "targets": [target.pk], **change})
    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert not Alert.objects.exists()


def test_the_fault_of_a_field_is_its_description(admin, receiver):
    numbers = {"kind": "rejections.spike", "minimum": "many", "percent": "x", "factor": "0"}
    page = admin.post(f"{PAGE}/create", {**FORM, **numbers}).content.decode()
    page += admin.post(
        f"{PAGE}/create", {**FORM, "kind": "rejections.new-reason", "reason_minimum": "x"}
    ).content.decode()
    target = {"kind": "webhook", "name": "ops", "address": "http:"}
    page += admin.post(f"{PAGE}/targets/create", target).content.decode()
    for name in ("minimum", "percent", "factor", "reason_minimum", "address"):
        (field,) = re.findall(f'<input[^>]* name="{name}"[^>]*aria-invalid="true"[^>]*>', page)
        ids = re.findall('aria-describedby="([^"]*)"', field)[0].split()
        assert all(f'id="{identifier}"' in page for identifier in ids)
        assert f'class="fault" id="{ids[-1]}"' in page


def test_alerts_of_two_environments_differ_in_the_names_of_their_buttons(admin, workspace, target):
    for environment in ("production", "staging"):
        alert = make_alert(workspace, target, environment=environment)
    page = read(admin, PAGE)
    for environment in ("production", "staging"):
        for action in ("Edit", "Pause", "Delete"):
            assert f'aria-label="{action} Breaking drift, in {environment}"' in page
    assert "Delete “Breaking drift” in staging?" in read(admin, f"{PAGE}?delete={alert.pk}")


def test_a_new_alert_on_the_page_of_an_archived_environment_is_for_production(admin, workspace):
    archive_environment(environment_of(workspace, "staging"), actor="ada", now=timezone.now())
    text = read(admin, "/w/lumen-books/staging/alerts")
    assert "Select a valid choice" not in text
    assert "in production" in text


def test_an_alert_of_an_archived_environment_can_be_changed_and_keeps_it(admin, workspace, target):
    alert = make_alert(workspace, target, environment="staging")
    archive_environment(alert.environment, actor="ada", now=timezone.now())
    text = read(admin, f"{PAGE}?edit={alert.pk}")
    assert '<option value="staging" selected>' in text
    assert "Select a valid choice" not in text
    form = {**FORM, "kind": "reporter.silent", "environment": "staging", "targets": [target.pk]}
    assert admin.post(f"{PAGE}/{alert.pk}/change", form).status_code == 303
    alert.refresh_from_db()
    assert (alert.kind, alert.environment.name) == ("reporter.silent", "staging")
    assert "staging is not one" in admin.post(f"{PAGE}/create", form).content.decode()


def test_a_missing_target_is_an_error_only_after_saving(admin):
    message = 'To save it, <a href="#new-target">add a target</a>'
    assert f'<p class="soft"> {message}' in read(admin, PAGE)
    refused = re.sub(r"\s+", " ", admin.post(f"{PAGE}/create", FORM).content.decode())
    assert f'<p class="fault"> {message}' in refused


def test_numbers_that_the_kind_of_alert_does_not_use_are_not_validated(admin, target):
    form = {**FORM, "targets": [target.pk], "minimum": "", "percent": "x", "reason_minimum": "-1"}
    assert admin.post(f"{PAGE}/create", form).status_code == 303
    assert Alert.objects.get().kind == "drift.breaking"


def test_an_alert_is_created_changed_paused_resumed_and_deleted(admin, target):
    form = {**FORM, "kind": "broken-joins.spike", "minutes": "15", "targets": [target.pk]}
    assert admin.post(f"{PAGE}/create", form).status_code == 303
    alert = Alert.objects.get()
    assert (alert.kind, alert.thresholds) == ("broken-joins.spike", Thresholds(15, 20, 1, 3))
    assert (alert.environment.name, alert.target_ids, alert.origin) == ("production", [target.pk], "http://testserver")
    words = "Broken joins: 20 or more in 15 minutes, at least 1 % and 3 times the usual share"
    assert words in read(admin, PAGE)
    text = read(admin, f"{PAGE}?edit={alert.pk}")
    assert f"Edit “{words}”" in text
    assert '<option value="15" selected>' in text
    change = {**FORM, "kind": "reporter.silent", "environment": "staging", "targets": [target.pk]}
    assert admin.post(f"{PAGE}/{alert.pk}/change", change).status_code == 303
    alert.refresh_from_db()
    assert (alert.kind, alert.minutes, alert.environment.name) == ("reporter.silent", 60, "staging")
    for action, mark in (("pause", True), ("pause", True), ("resume", False)):
        assert admin.post(f"{PAGE}/{alert.pk}/{action}").status_code == 303
        assert ('<span class="tag warn">paused</span>' in read(admin, PAGE)) == mark
    assert "will no longer fire" in read(admin, f"{PAGE}?delete={alert.pk}")
    assert admin.post(f"{PAGE}/{alert.pk}/delete").status_code == 303
    assert admin.post(f"{PAGE}/{alert.pk}/delete").status_code == 404
    entries = AuditEntry.objects.filter(action__startswith="alert").order_by("id")
    assert [entry.action for entry in entries] == [
        "alert target created", "alert created", "alert changed", "alert paused", "alert resumed", "alert deleted",
    ]  # fmt: skip


def test_submitting_a_form_keeps_the_range_of_the_page(admin, workspace, target):
    alert = make_alert(workspace, target)
    admin.defaults["HTTP_REFERER"] = f"http://testserver{PAGE}?range=7d&edit={alert.pk}"
    assert admin.post(f"{PAGE}/create", {**FORM, "targets": [target.pk]})["Location"] == f"{PAGE}?range=7d"
    assert admin.post(f"{PAGE}/targets/{target.pk}/test")["Location"] == f"{LOG}?range=7d&done=test&target={target.pk}"
    refused = admin.post(f"{PAGE}/{alert.pk}/change?edit={alert.pk}", FORM).content.decode()
    assert f'href="{LOG}?range=7d"' in refused
    assert "Edit “Breaking drift”" in refused


def test_the_preview_shows_a_small_threshold_as_it_was_typed(admin, api):
    api.post("/api/conversation-outcomes", {"outcomes": [{"conversationId": "undefined", "outcomeKey": "purchase"}]})
    text = read(admin, f"{PAGE}?kind=broken-joins.spike&percent=0.004&factor=1.125")
    assert "Also needed: 0.004 % of all and 1.125 times the usual share." in text


def test_the_preview_of_the_form_keeps_the_period_of_the_page(admin):
    page = admin.get(f"{PAGE}?range=24h&tz=Asia/Kathmandu&kind=drift.breaking").content.decode()
    form = page[page.index('id="alert-form"') : page.index("</form>", page.index('id="alert-form"'))]
    inputs = re.findall(r'<input type="hidden" name="([a-z]+)" value="([^"]*)">', form)
    assert inputs == [("range", "24h"), ("tz", "Asia/Kathmandu")]


def test_a_test_goes_to_its_target_alone(admin, workspace, target, receiver):
    make_target(workspace, receiver.url, Target.SLACK, "chat")
    answer = admin.post(f"{PAGE}/targets/{target.pk}/test")
    assert answer["Location"] == f"{LOG}?done=test&target={target.pk}"
    assert "A test is on its way." in read(admin, answer["Location"])
    assert deliver_due(now=timezone.now()) == 1
    (_, body) = receiver.requests[0]
    assert json.loads(body)["type"] == "test"
    assert json.loads(body)["data"]["url"] == f"http://testserver{LOG}"
    assert "delivered <time" in read(admin, LOG)


def test_the_log_shows_what_failed_and_sends_dead_letters_again(admin, workspace, target, receiver):
    admin.post(f"{PAGE}/targets/{target.pk}/test")
    receiver.codes = [410]
    deliver_due(now=timezone.now())
    text = read(admin, LOG)
    assert "failing: answered 410" in text
    assert '<td class="num" data-is="answer">410</td>' in text
    assert '<td data-is="next attempt">' in text, "on a phone, no column says so"
    assert "Send again" not in text
    assert "1 waiting" in read(admin, PAGE)
    delivery = Delivery.objects.get()
    Delivery.objects.update(state="dead", finished_at=timezone.now(), next_attempt_at=None)
    Target.objects.update(next_attempt_at=None)
    assert "dead letter" in read(admin, f"{LOG}?state=dead&target={target.pk}")
    assert "Nothing matches" in read(admin, f"{LOG}?state=delivered")
    assert "Send again" in read(admin, LOG)
    form_page = f"http://testserver{LOG}?range=24h&state=dead&target={target.pk}"
    answer = admin.post(f"{LOG}/{delivery.pk}/again", HTTP_REFERER=form_page)
    assert answer["Location"] == f"{LOG}?range=24h&state=dead&target={target.pk}&done=again"
    assert deliver_due(now=timezone.now()) == 1
    assert Delivery.objects.get().state == "delivered"
    assert admin.post(f"{LOG}/{delivery.pk}/again")["Location"] == LOG


def test_a_target_still_shows_the_error_of_its_last_attempt_while_a_dead_letter_waits_again(
    admin, workspace, target, receiver
):
    for code in (200, 410):
        receiver.codes = [code]
        admin.post(f"{PAGE}/targets/{target.pk}/test")
        deliver_due(now=timezone.now())
    failed = Delivery.objects.get(code=410)
    Delivery.objects.filter(pk=failed.pk).update(state="dead", finished_at=timezone.now(), next_attempt_at=None)
    Target.objects.update(next_attempt_at=None)
    admin.post(f"{LOG}/{failed.pk}/again")
    text = read(admin, PAGE)
    assert '<span class="bad">answered 410</span>' in text
    assert "1 waiting" in text


def test_a_delivery_behind_one_that_fails_has_no_time_of_its_next_attempt(admin, workspace, target, receiver):
    receiver.codes = [500] * 2
    for _ in range(2):
        admin.post(f"{PAGE}/targets/{target.pk}/test")
    deliver_due(now=timezone.now())
    assert read(admin, LOG).count("in its turn") == 1
    behind, failing = json.loads(admin.get(f"{LOG}.json").getvalue())["tables"]["deliveries"]
    assert (behind["attempts"], behind["nextAttemptAt"]) == (0, None)
    assert failing["attempts"] > 0
    assert failing["nextAttemptAt"] > failing["queuedAt"]


def test_a_target_can_be_changed_rotated_and_deleted_once_no_alert_uses_it(admin, workspace, target, receiver):
    alert = make_alert(workspace, target)
    address = bytes(target.encrypted_address)
    assert admin.post(f"{PAGE}/targets/{target.pk}/change", {"name": "ops 2", "address": ""}).status_code == 303
    target.refresh_from_db()
    assert (target.name, bytes(target.encrypted_address)) == ("ops 2", address)
    answer = admin.post(f"{PAGE}/targets/{target.pk}/change", {"name": "ops", "address": "https://192.168.0.1"})
    assert "not public" in answer.content.decode()
    assert admin.post(f"{PAGE}/targets/{target.pk}/rotate").status_code == 303
    assert "whsec_" in read(admin, PAGE)
    answer = admin.post(f"{PAGE}/targets/{target.pk}/delete")
    assert "1 alert notifies ops 2." in answer.content.decode()
    admin.post(f"{PAGE}/{alert.pk}/delete")
    assert admin.post(f"{PAGE}/targets/{target.pk}/delete").status_code == 303
    assert not Target.objects.exists()


def test_a_change_of_a_target_that_is_refused_shows_its_form_again(admin, target):
    (action,) = re.findall(r'action="([^"]*/change[^"]*)"', read(admin, f"{PAGE}?target={target.pk}"))
    page = admin.post(unescape(action), {"name": "on call", "address": "https://192.168.0.1"}).content.decode()
    assert "not public" in page
    assert "Change “ops”" in page
    assert re.search(r'id="change-name" name="name" value="on call"', page)
    assert re.search(r'id="change-address" name="address" value="https://192.168.0.1"', page)


def test_a_form_of_an_alert_from_before_another_change_undoes_nothing_without_a_word(admin, workspace, target):
    def read_opened(page: str) -> str:
        return re.findall(r'id="alert-form".*?name="opened" value="(\w*)"', page, re.DOTALL)[0]

    alert = make_alert(workspace, target, kind=Alert.REJECTIONS)
    address = f"{PAGE}/{alert.pk}/change?edit={alert.pk}"
    form = {**FORM, "kind": alert.kind, "targets": str(target.pk)}
    opened = read_opened(read(admin, f"{PAGE}?edit={alert.pk}"))
    admin.post(address, {**form, "percent": "20", "opened": opened})
    preview = read(admin, f"{PAGE}?edit={alert.pk}&kind={alert.kind}&opened={opened}")
    assert read_opened(preview) == opened
    page = admin.post(address, {**form, "minutes": "240", "opened": opened}).content.decode()
    assert "Nothing was stored." in page
    alert.refresh_from_db()
    assert (alert.percent, alert.minutes) == (20, 60)
    answer = admin.post(address, {**form, "minutes": "240", "opened": read_opened(page)})
    assert answer.status_code == 303
    alert.refresh_from_db()
    assert (alert.percent, alert.minutes) == (1, 240)
    alert.delete()
    assert admin.post(address, {**form, "opened": opened}).status_code == 404


def test_a_form_of_a_target_from_before_another_change_undoes_nothing_without_a_word(admin, target, receiver):
    page = read(admin, f"{PAGE}?target={target.pk}")
    (action,) = re.findall(r'action="([^"]*/change[^"]*)"', page)
    (opened,) = re.findall(r'name="opened" value="(\w+)"', page)
    admin.post(unescape(action), {"name": "on call", "address": "", "opened": opened})
    form = {"name": "ops", "address": receiver.url, "opened": opened}
    page = admin.post(unescape(action), form).content.decode()
    assert "name is now on call" in page
    assert "Nothing was stored." in page
    target.refresh_from_db()
    assert target.name == "on call"
    assert AuditEntry.objects.filter(action="alert target changed").count() == 1


def test_a_webhook_whose_key_is_lost_gets_a_new_address_and_a_new_secret(target, receiver, settings):
    settings.SECRET_KEY = "n" * 50
    now = timezone.now()
    change_target(target, target.name, receiver.url, actor="ada", now=now)
    secret = rotate_webhook_secret(target, actor="ada", now=now)
    send_test(target, Environment.objects.get(name="production"), url="", actor="ada", now=now)
    deliver_due(now=now)
    ((headers, body),) = receiver.requests
    assert len(headers["webhook-signature"].split()) == 1
    assert Webhook(secret).verify(body, headers)


def test_changing_or_rotating_a_target_that_was_deleted_meanwhile_says_so(
    admin, workspace, target, receiver, monkeypatch
):
    def check_address(*arguments):
        """Delete the target while its new address is looked up."""
        delete_target(Target.objects.get(pk=target.pk), actor="bob", now=timezone.now())
        return CheckedAddress("https://example.com/", "https://example.com")

    monkeypatch.setattr(targets, "check_address", check_address)
    answer = admin.post(f"{PAGE}/targets/{target.pk}/change", {"name": "ops", "address": receiver.url})
    assert answer.status_code == 200
    assert "This target was deleted in the meantime." in answer.content.decode()
    assert not AuditEntry.objects.filter(action="alert target changed").exists()
    with pytest.raises(InvalidRequest, match="deleted in the meantime"):
        rotate_webhook_secret(target, actor="ada", now=timezone.now())


def test_a_target_that_is_deleted_twice_at_once_is_in_the_audit_log_once(target):
    first, second = Target.objects.get(), Target.objects.get()
    delete_target(first, actor="ada", now=timezone.now())
    delete_target(second, actor="bob", now=timezone.now())
    assert [entry.actor for entry in AuditEntry.objects.filter(action="alert target deleted")] == ["ada"]


def test_the_page_says_how_often_an_alert_fired_and_whether_it_was_delivered(admin, api, workspace, target):
    make_alert(workspace, target)
    break_operation(api, workspace)
    evaluate_all(now=timezone.now())
    deliver_due(now=timezone.now())
    text = read(admin, PAGE)
    assert '<td class="num" data-is="fired in 30 days">1</td>' in text
    assert "delivered <time" in text
    tables = json.loads(admin.get(f"{PAGE}.json").getvalue())["tables"]
    assert tables["alerts"][0]["fired"] == 1
    assert tables["targets"][0]["address"].startswith("http://127.0.0.1:")
    (row,) = json.loads(admin.get(f"{LOG}.json").getvalue())["tables"]["deliveries"]
    assert (row["state"], row["code"], row["target"]) == ("delivered", 204, "ops")
    assert "s3cret" not in str(tables)


def test_other_workspaces_and_roles_neither_see_nor_change_alerts(workspace, other_workspace, target):
    alert = make_alert(workspace, target)
    outsider, viewer = client_with(Membership.ADMIN, other_workspace), client_with(Membership.VIEWER, workspace)
    for address in (PAGE, LOG, f"{PAGE}.json", f"{LOG}.csv"):
        assert outsider.get(address).status_code == 404
        assert viewer.get(address).status_code == 403
        assert Client().get(address).status_code in (302, 401)
    # An address in their own workspace gives them no access to another workspace either.
    own = PAGE.replace("lumen-books", other_workspace.workspace.slug)
    for action in (f"{alert.pk}/pause", f"{alert.pk}/delete", f"{alert.pk}/change", f"targets/{target.pk}/test"):
        assert outsider.post(f"{own}/{action}", FORM).status_code == 404, action
    assert outsider.post(f"{own}/create", {**FORM, "targets": [target.pk]}).status_code == 200
    assert Alert.objects.get().paused_at is None
    assert not Delivery.objects.exists()
