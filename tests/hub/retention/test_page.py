"""The page of retention: the numbers of days, and deletions in two steps; for admins only."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from hub.retention.change_days import KIND_NAMES, list_days
from hub.retention.data_kinds import KINDS
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.ingest.record import Report, record_outcomes
from outcomes.models import Conversation
from tests.page_text import read_html
from tests.sample_data import fill_workspace
from tests.sign_in import sign_in_as
from workspaces import tasks
from workspaces.audit.describe import RETENTION_MEANINGS
from workspaces.forms.late_forms import fingerprint
from workspaces.models import AuditEntry, Membership, RetentionPolicy, Workspace

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/retention"
DAYS, DELETIONS = f"{PAGE}/days", f"{PAGE}/deletions"
EMPTY = dict.fromkeys(KIND_NAMES, "")


@pytest.mark.parametrize("role", [Membership.VIEWER, Membership.EDITOR])
def test_only_an_admin_sees_and_changes_retention(workspace, role, api):
    member = sign_in_as(role, workspace)
    assert member.get(PAGE).status_code == 403
    assert member.post(DAYS, {**EMPTY, "audit": "1"}).status_code == 403
    body = {"subject": "workspace", "name": "Lumen Books", "typed": "Lumen Books"}
    assert member.post(DELETIONS, body).status_code == 403
    assert api.get(f"{PAGE}.json").status_code == 403
    assert not RetentionPolicy.objects.exists()
    assert Workspace.objects.get().removed_at is None


def test_strangers_and_forged_forms_get_nothing(workspace, other_workspace, admin):
    stranger = get_user_model().objects.create_user("stranger")
    other_workspace.workspace.memberships.create(user=stranger, role=Membership.ADMIN)
    client = Client()
    client.force_login(stranger)
    assert client.get(PAGE).status_code == client.post(DAYS, EMPTY).status_code == 404
    assert client.post(DELETIONS, {"subject": "user", "name": "u"}).status_code == 404
    forged = Client(enforce_csrf_checks=True)
    forged.force_login(get_user_model().objects.get(username="admin"))
    assert forged.post(DAYS, EMPTY).status_code == forged.post(DELETIONS, {}).status_code == 403
    assert admin.get(DAYS).status_code == admin.get(DELETIONS).status_code == 405


def test_the_page_calls_the_days_of_the_inbox_report_ids(admin):
    assert '<label for="days-inbox">Report ids</label>' in admin.get(PAGE).content.decode()


def test_new_numbers_are_stored_and_logged_with_the_old_ones(admin, workspace):
    answer = admin.post(DAYS, {**EMPTY, "rejections": "30", "audit": "365"})
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}?saved=yes")
    assert "Saved." in admin.get(answer["Location"]).content.decode()
    admin.post(DAYS, {**EMPTY, "rejections": "7"})
    policy = RetentionPolicy.objects.get()
    assert (policy.rejections, policy.audit, policy.inbox) == (7, None, None)
    latest, first = AuditEntry.objects.filter(action="retention changed")
    assert first.facts == {"before": {"rejections": None, "audit": None}, "after": {"rejections": 30, "audit": 365}}
    assert latest.facts == {"before": {"rejections": 30, "audit": 365}, "after": {"rejections": 7, "audit": None}}
    assert latest.actor == "admin"
    again = admin.post(DAYS, {**EMPTY, "rejections": "7"})
    assert again["Location"] == f"{PAGE}?saved=same"
    assert AuditEntry.objects.filter(action="retention changed").count() == 2


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "ten", "36501", "9" * 30])
def test_an_invalid_number_of_days_is_shown_again_and_changes_nothing(admin, text):
    answer = admin.post(DAYS, {**EMPTY, "audit": text, "inbox": "5"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert f'value="{text}"' in page
    assert 'id="fault-audit"' in page
    assert not RetentionPolicy.objects.filter(inbox=5).exists()


def test_the_page_says_how_many_rows_are_older(admin, workspace, production):
    for age in (1, 40, 50):
        record_verifications(production, [Verification("expired", timezone.now() - timedelta(days=age))])
    RetentionPolicy.objects.create(workspace=workspace.workspace, rejections=30)
    rows = json.loads(admin.get(f"{PAGE}.json").getvalue())["tables"]["retention"]
    assert rows[1] == {"kind": "rejections", "days": 30, "rowsBeyond": 2}
    assert {row["kind"]: row["days"] for row in rows if row["days"]} == {
        "rejections": 30, "inbox": 400, "observed_days": 400, "alerts": 90,
    }  # fmt: skip
    assert [row["rowsBeyond"] for row in rows if row["kind"] != "rejections"] == [0] * (len(KIND_NAMES) - 1)


def test_numbers_that_delete_rows_are_saved_after_a_question_only(admin, production):
    for age in (1, 40, 50):
        record_verifications(production, [Verification("expired", timezone.now() - timedelta(days=age))])
    page = read_html(admin.post(DAYS, {**EMPTY, "rejections": "30"}))
    assert "for good:</b> 2 of Rejections." in page
    assert not RetentionPolicy.objects.filter(rejections=30).exists()
    sure = re.search(r'name="sure" value="([^"]*)"', page)[1]
    shorter = admin.post(DAYS, {**EMPTY, "rejections": "2", "sure": sure})  # `sure` was for other numbers
    assert shorter.status_code == 200
    assert admin.post(DAYS, {**EMPTY, "rejections": "30", "sure": sure}).status_code == 303
    assert RetentionPolicy.objects.get().rejections == 30
    assert admin.post(DAYS, {**EMPTY, "rejections": "20"}).status_code == 303  # no row is between 20 and 30 days old
    assert admin.post(DAYS, EMPTY).status_code == 303  # to keep rows longer deletes nothing


def test_a_conversation_is_deleted_once_its_id_is_typed(admin, workspace, api):
    fill_workspace(workspace, api)
    body = {"subject": "conversation", "name": "conv_1", "environment": ""}
    step = admin.post(DELETIONS, body)
    assert dict(step.context["rows_to_delete"]) == {"Conversations": 1, "Outcomes": 1}
    wrong = admin.post(DELETIONS, {**body, "typed": "conv_2"})
    assert "This is not the same. Nothing was deleted." in wrong.content.decode()
    assert Conversation.objects.filter(conversation_id="conv_1").exists()
    answer = admin.post(DELETIONS, {**body, "typed": "conv_1"})
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}#deletions")
    assert admin.get(PAGE).context["reports"][0][0]["rows"] == {"outcomes_conversation": 1, "outcomes_outcome": 1}
    assert not admin.get(PAGE).context["reports"]
    assert not Conversation.objects.filter(conversation_id="conv_1").exists()
    assert "conv_1" not in str(list(AuditEntry.objects.values_list("facts", flat=True)))


def test_only_the_named_environment_loses_the_conversation(admin, workspace):
    for environment in workspace.workspace.environments.all():
        record_outcomes(environment, [Report(" odd id ", "purchase")], now=timezone.now())
    body = {"subject": "conversation", "name": " odd id ", "environment": "staging", "typed": " odd id "}
    assert admin.post(DELETIONS, body).status_code == 303
    assert [row.environment.name for row in Conversation.objects.all()] == ["production"]


def test_a_deletion_names_the_environment_as_it_is_named_in_reports(admin, workspace):
    environment = workspace.workspace.environments.get(name="staging")
    environment.label = "Quality"
    environment.save()
    record_outcomes(environment, [Report("conv_9", "purchase")], now=timezone.now())
    assert ">staging</option>" in re.sub(r"\s*([<>])\s*", r"\1", admin.get(PAGE).content.decode())
    step = admin.post(DELETIONS, {"subject": "conversation", "name": "conv_9", "environment": "staging"})
    assert "Stored about <code>conv_9</code> in staging:" in read_html(step)


def test_a_user_is_deleted_and_an_unknown_user_is_reported(admin, api):
    assert api.post("/api/intents", {"sub": "user_1", "operation": "GET /a", "args": {}}).status_code == 201
    body = {"subject": "user", "name": "user_1", "typed": "user_1"}
    assert admin.post(DELETIONS, body).status_code == 303
    assert admin.get(PAGE).context["reports"][0][0]["rows"] == {"intents_mintedintent": 1}
    admin.post(DELETIONS, body)
    assert "Nothing was stored about this user." in admin.get(PAGE).content.decode()


def test_a_deleted_workspace_is_hidden_at_once_and_the_worker_deletes_its_rows(admin, workspace, api):
    body = {"subject": "workspace", "name": "Lumen Books"}
    assert "Type <code>Lumen Books</code>" in admin.post(DELETIONS, body).content.decode()
    assert "not the same" in admin.post(DELETIONS, {**body, "typed": "lumen books"}).content.decode()
    assert admin.get(PAGE).status_code == 200
    answer = admin.post(DELETIONS, {**body, "typed": "Lumen Books"})
    assert "Lumen Books is deleted" in answer.content.decode()
    assert admin.get(PAGE).status_code == 404
    assert api.post("/api/conversation-outcomes", {"outcomes": []}).status_code == 401
    assert Workspace.objects.exists()
    tasks.sweep()
    assert not Workspace.objects.exists()
    assert AuditEntry.objects.get().action == "workspace deleted"


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "everything"},
        {"name": ""},
        {"name": "x" * 256},
        {"environment": "nowhere"},
        {"subject": "workspace"},
    ],
)
def test_a_malformed_form_deletes_nothing(admin, workspace, change):
    record_outcomes(workspace.workspace.environments.first(), [Report("c1", "purchase")], now=timezone.now())
    body = {"subject": "conversation", "name": "c1", "typed": "c1", **change}
    assert admin.post(DELETIONS, body).status_code == 200
    assert Conversation.objects.count() == 1
    assert Workspace.objects.get().removed_at is None


def test_a_form_that_was_opened_before_another_change_undoes_nothing_without_a_word(workspace, admin):
    def read_opened(page: str) -> str:
        return re.findall(r'name="opened" value="(\w+)"', page)[0]

    opened = read_opened(admin.get(PAGE).content.decode())
    admin.post(DAYS, {**EMPTY, "rejections": "500", "opened": opened})
    page = admin.post(DAYS, {**EMPTY, "alerts": "x", "opened": opened}).content.decode()
    assert (read_opened(page), "Enter whole days." in page) == (opened, True)
    page = admin.post(DAYS, {**EMPTY, "alerts": "90", "opened": opened}).content.decode()
    assert "rejections is now 500, alerts is now empty. Nothing was stored." in page
    policy = RetentionPolicy.objects.get()
    assert (policy.rejections, policy.alerts) == (500, None)
    assert admin.post(DAYS, {**EMPTY, "alerts": "90", "opened": read_opened(page)}).status_code == 303
    policy.refresh_from_db()
    assert (policy.rejections, policy.alerts) == (None, 90)


def test_a_change_during_the_question_whether_to_delete_counts_too(workspace, production, admin):
    record_verifications(production, [Verification("expired", timezone.now() - timedelta(days=40))])
    form = {**EMPTY, "rejections": "30", "opened": fingerprint(list_days(None))}
    page = admin.post(DAYS, form).content.decode()
    RetentionPolicy.objects.create(workspace=workspace.workspace, audit=700)
    sure = re.search(r'name="sure" value="([^"]*)"', page)[1]
    page = admin.post(DAYS, {**form, "sure": sure}).content.decode()
    assert "audit is now 700" in page
    assert RetentionPolicy.objects.get().rejections is None


def test_the_audit_log_knows_which_kinds_of_data_an_empty_field_keeps_for_ever():
    defaults = {kind.name: "keep all" if kind.default_days is None else "the default" for kind in KINDS}
    assert defaults == RETENTION_MEANINGS
