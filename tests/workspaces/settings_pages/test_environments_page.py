"""The page of environments."""

import re
import uuid

import pytest

from tests.page_text import read_html
from tests.sign_in import sign_in_as
from workspaces.models import AuditEntry, Membership

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/environments"


def test_an_environment_is_added_labelled_archived_and_restored(admin, workspace):
    environments = workspace.workspace.environments
    assert admin.post(f"{PAGE}/create", {"name": "qa", "label": ""})["Location"] == PAGE
    admin.post(f"{PAGE}/qa/change", {"label": "Quality", "audience": "urn:example:qa"})
    qa = environments.get(name="qa")
    assert (qa.label, qa.audience) == ("Quality", "urn:example:qa")
    assert "audience-mismatch" in admin.get(f"{PAGE}?change=qa").content.decode()
    assert "unknown-environment" in admin.get(f"{PAGE}?archive=qa").content.decode()
    answer = admin.post(f"{PAGE}/qa/archive", headers={"referer": f"http://testserver{PAGE}?range=30d&archive=qa"})
    assert answer["Location"] == f"{PAGE}?range=30d"  # without `archive`, so that the page does not ask again
    assert environments.get(name="qa").archived_at is not None
    admin.post(f"{PAGE}/qa/restore")
    assert environments.get(name="qa").archived_at is None


def test_a_refused_form_shows_the_reason_and_keeps_the_input(admin, workspace):
    page = admin.post(f"{PAGE}/create", {"name": "QA!", "label": "Quality"}).content.decode()
    assert "lower-case letters" in page
    assert 'value="QA!"' in page
    assert "always exists" in admin.post(f"{PAGE}/production/archive").content.decode()
    assert "Enter a date" in admin.post("/w/lumen-books/production/v1-window", {"until": "soon"}).content.decode()


def test_the_end_of_version_1_is_set_next_to_its_remaining_share(admin, api, workspace):
    verifications = [
        {"result": "accepted", "version": 1, "count": 3},
        {"result": "accepted", "version": 2, "count": 97},
    ]
    report = {"environment": "staging", "reportId": str(uuid.uuid4()), "verifications": verifications}
    assert api.post("/api/verification-reports", report).status_code == 200
    page = admin.get(PAGE).content.decode()
    assert "3 of 100" in page
    assert 'href="/w/lumen-books/staging/rejections?range=7d&amp;version=1">3 of 100 in staging</a>' in page
    assert "in production</a>" not in page
    admin.post("/w/lumen-books/production/v1-window", {"until": "2099-12-31T00:00"})
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until.isoformat() == "2099-12-31T00:00:00+00:00"
    assert "31 Dec 2099, 00:00 UTC" in admin.get(f"{PAGE}?tz=Asia/Tokyo").content.decode()
    admin.post("/w/lumen-books/production/v1-window", {"open": "1", "until": ""})
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until is None


def read_opened(page: str) -> str:
    return re.findall(r'name="opened" value="(\w+)"', page)[0]


def test_a_form_that_was_opened_before_another_change_undoes_nothing_without_a_word(admin, workspace):
    staging = workspace.workspace.environments.get(name="staging")
    opened = read_opened(admin.get(f"{PAGE}?change=staging").content.decode())
    admin.post(f"{PAGE}/staging/change", {"label": "", "audience": "urn:new", "opened": opened})
    form = {"label": "Stage", "audience": "urn:affidavit:lumen-books:staging"}
    page = admin.post(f"{PAGE}/staging/change", {**form, "opened": opened}).content.decode()
    assert "label is now empty, audience is now urn:new. Nothing was stored." in page
    assert 'value="Stage"' in page
    staging.refresh_from_db()
    assert (staging.label, staging.audience) == ("", "urn:new")
    admin.post(f"{PAGE}/staging/change", {**form, "opened": read_opened(page)})
    staging.refresh_from_db()
    assert staging.label == "Stage"


def test_the_same_form_sent_twice_changes_once(admin, workspace):
    opened = read_opened(admin.get(f"{PAGE}?change=staging").content.decode())
    form = {"label": "Stage", "audience": "urn:new", "opened": opened}
    assert [admin.post(f"{PAGE}/staging/change", form).status_code for _ in range(2)] == [303, 303]
    assert AuditEntry.objects.filter(action="environment changed").count() == 1


def test_a_refused_change_shows_its_form_again_as_it_was_filled_in(admin, workspace):
    form = {"label": "Stage", "audience": "urn:affidavit:lumen-books:production"}
    page = admin.post(f"{PAGE}/staging/change", form).content.decode()
    assert "This is the audience of production" in page
    change = page.partition('action="/w/lumen-books/production/environments/staging/change"')[2].partition("</form>")[0]
    assert 'value="Stage"' in change
    assert 'value="urn:affidavit:lumen-books:production"' in change
    rest = page.replace(change, "")
    assert "Stage" not in rest
    assert "<code>urn:affidavit:lumen-books:staging</code>" in rest


def test_an_end_of_version_1_with_an_offset_is_that_moment(admin, workspace):
    admin.post("/w/lumen-books/production/v1-window", {"until": "2099-12-31T00:00+02:00"})
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until.isoformat() == "2099-12-30T22:00:00+00:00"


@pytest.mark.parametrize(
    "until", ["0001-01-01T00:00", "0001-01-01T00:00+02:00", "9999-12-31T23:59", "9999-12-31T23:59-02:00"]
)
def test_an_end_of_version_1_that_some_time_zone_cannot_show_is_refused(admin, workspace, until):
    refused = admin.post("/w/lumen-books/production/v1-window", {"until": until})
    assert "Choose a time between the years 2000 and 9999" in refused.content.decode()
    for zone in ("America/New_York", "Asia/Tokyo"):
        assert admin.get(f"/w/lumen-books/production/rejections?tz={zone}").status_code == 200
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until is None


def test_only_admins_open_and_change_environments(workspace, other_workspace, admin):
    editor = sign_in_as(Membership.EDITOR, workspace)
    actions = ("environments/create", "environments/staging/archive", "environments/staging/restore",
               "environments/staging/change", "v1-window")  # fmt: skip
    assert editor.get(PAGE).status_code == 403
    for action in actions:
        assert editor.post(f"/w/lumen-books/production/{action}", {"name": "qa"}).status_code == 403
        assert admin.post(f"/w/other-shop/production/{action}", {"name": "qa"}).status_code == 404
    assert admin.post(f"{PAGE}/nowhere/archive").status_code == 404
    assert workspace.workspace.environments.count() == 2


def test_the_cells_of_an_environment_say_on_a_phone_what_they_are(admin):
    page = admin.get(PAGE).content.decode()
    for label in ("Label", "Audience", "Added"):
        assert f'<td data-is="{label}"' in page


def test_the_settings_pages_are_a_row_of_links_and_on_a_phone_a_menu_named_after_the_open_one(admin):
    page = admin.get(PAGE).content.decode()
    menu = page.partition('<nav class="phone" aria-label="Settings">')[2].partition("</nav>")[0]
    assert "<summary><b>Environments</b></summary>" in " ".join(menu.split()).replace("> <", "><")
    row = page.partition('<nav class="seg wide" aria-label="Settings">')[2].partition("</nav>")[0]
    for part in (menu, row):
        assert part.count("<a href=") == 8
        assert part.count('aria-current="page">') == 1


def test_an_end_of_version_1_that_is_refused_is_shown_again_as_it_was_typed(admin):
    page = admin.post("/w/lumen-books/production/v1-window", {"until": "20266-12-31T00:00"}).content.decode()
    assert "Enter a date and a time" in page
    assert 'name="until" value="20266-12-31T00:00"' in page


def test_the_same_end_of_version_1_sent_twice_is_recorded_once(admin):
    for form in (
        {"open": "1"},
        {"until": "2099-12-31T00:00"},
        {"until": "2099-12-31T00:00"},
        {"open": "1"},
        {"open": "1"},
    ):
        assert admin.post("/w/lumen-books/production/v1-window", form).status_code == 303
    entries = AuditEntry.objects.filter(action="version 1 window set").order_by("pk")
    assert [entry.facts["v1Until"] for entry in entries] == ["2099-12-31T00:00:00+00:00", None]


def test_a_form_about_something_that_is_gone_says_so(admin):
    answer = admin.post(f"{PAGE}/gone/change", {"label": "x", "audience": "y"}, headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "was deleted in the meantime, or you have no access" in read_html(answer)
