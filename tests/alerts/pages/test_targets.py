"""Targets are created, changed, rotated and deleted; a refused form is shown again with its reason."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from alerts.models import Target
from alerts.setup import targets
from alerts.setup.rotate_webhook_secret import rotate_webhook_secret
from alerts.setup.send_test_message import send_test
from alerts.setup.target_address import CheckedAddress
from alerts.setup.targets import change_target, delete_target
from tests.alerts.alerts import deliver_due, make_alert
from tests.alerts.pages.alert_pages import PAGE, read
from tests.page_text import read_html
from wire.errors import InvalidRequest
from workspaces.models import AuditEntry, Environment

pytestmark = pytest.mark.django_db


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
    page = read_html(answer)
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
