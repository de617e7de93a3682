"""The page of alerts: creating, changing, pausing, resuming and deleting them, and the faults of their form."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.utils import timezone

from alerts.evaluation.fire import evaluate_all
from alerts.models import Alert, Delivery
from alerts.rules.thresholds import Thresholds
from tests.alerts.alerts import deliver_due, make_alert, make_target
from tests.alerts.pages.alert_pages import FORM, LOG, PAGE, break_operation, read
from tests.catalog.reports import environment_of
from tests.sign_in import sign_in_as
from workspaces.environments.change import archive_environment
from workspaces.models import AuditEntry, Membership

pytestmark = pytest.mark.django_db


def test_a_page_without_alerts_says_what_to_do(admin):
    text = read(admin, PAGE)
    assert "No alert yet" in text
    assert "No target yet" in text
    assert "No reporter in production yet" in text
    assert "Would not have fired" not in text


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


def test_the_page_says_that_the_environment_of_an_alert_is_archived(admin, workspace, target):
    alert = make_alert(workspace, target, environment="staging")
    tag = '<span class="tag warn">archived</span>'
    assert tag not in read(admin, PAGE)
    archive_environment(alert.environment, actor="ada", now=timezone.now())
    assert read(admin, PAGE).count(tag) == 1


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
    outsider, viewer = sign_in_as(Membership.ADMIN, other_workspace), sign_in_as(Membership.VIEWER, workspace)
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
