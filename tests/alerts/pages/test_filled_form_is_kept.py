"""What a person does with a target or another alert keeps the form of an alert that they were filling in."""

from __future__ import annotations

import re
from html import unescape

import pytest

from alerts.models import Target
from tests.alerts.alerts import make_alert
from tests.alerts.pages.alert_pages import PAGE, read

pytestmark = pytest.mark.django_db


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
