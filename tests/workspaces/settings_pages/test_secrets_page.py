"""The page of signing secrets: rotation in two steps, and which backend still uses which secret."""

import re
from html import unescape

import pytest
from django.utils import timezone

from tests.page_text import read_html, read_unescaped_html
from tests.sign_in import sign_in_as
from tests.workspaces.secrets.test_uses import build_acceptance, report
from workspaces.keys.create import create_key
from workspaces.models import AuditEntry, Membership, SigningSecret
from workspaces.secrets.rotate import find_signer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("close_nonce_connections")]
PAGE = "/w/lumen-books/production/secrets"


def rotate(admin) -> str:
    """Prepare and activate a secret on the page; return it."""
    assert admin.post(f"{PAGE}/prepare")["Location"] == PAGE
    text = admin.get(PAGE).context["new_secrets"][0]["text"]
    assert admin.post(f"{PAGE}/activate").status_code == 303
    return text


def test_a_prepared_secret_is_shown_once_and_signs_after_the_second_step(admin, workspace):
    admin.post(f"{PAGE}/prepare")
    page = admin.get(PAGE)
    text = page.context["new_secrets"][0]["text"]
    assert page.content.decode().count(text) == 1
    assert "no-store" in page["Cache-Control"]
    assert text not in admin.get(PAGE).content.decode()
    assert find_signer(workspace.workspace).prefix == workspace.signing_secret[:8]
    admin.post(f"{PAGE}/activate")
    assert find_signer(workspace.workspace).prefix == text[:8]


def test_the_page_says_who_still_needs_the_previous_secret(admin, api, workspace):
    billing = create_key(workspace.workspace, ["report"], name="billing-api", actor="test", now=timezone.now()).text
    report(api, build_acceptance(workspace.signing_secret), key=billing)
    report(api, build_acceptance(workspace.signing_secret), key=workspace.report_key)
    new_secret = rotate(admin)
    report(api, build_acceptance(new_secret), key=workspace.report_key)
    page = read_html(admin.get(PAGE))
    assert "Do not revoke" in page
    assert "<b>billing-api</b> in production has not verified with" in page
    assert "1 of 2 backends" in page
    report(api, build_acceptance(new_secret), key=billing)
    page = admin.get(PAGE).content.decode()
    assert "Do not revoke" not in page
    assert "can be revoked" in page


def test_the_page_says_what_is_counted_if_one_key_reports_for_several_environments(admin, api, workspace):
    acceptance = build_acceptance(workspace.signing_secret)
    report(api, acceptance, key=workspace.report_key)
    page = read_html(admin.get(PAGE))
    assert "1 of 1 backend, last" in page
    assert "API key in" not in page
    report(api, acceptance, key=workspace.report_key, environment="staging")
    page = read_html(admin.get(PAGE))
    assert "2 of 2 backends (1 API key in 2 environments), last" in page
    assert "each API key counts once in each environment" in page
    billing = create_key(workspace.workspace, ["report"], name="billing-api", actor="test", now=timezone.now()).text
    report(api, acceptance, key=billing)
    page = read_html(admin.get(PAGE))
    assert "3 of 3 backends (2 API keys in 2 environments), last" in page


def test_without_reports_the_page_says_that_uses_are_unknown(admin):
    rotate(admin)
    assert "No backend has reported which secret it verifies with." in admin.get(PAGE).content.decode()


def test_revoking_asks_first(admin, workspace):
    rotate(admin)
    previous = SigningSecret.objects.get(prefix=workspace.signing_secret[:8])
    assert "Revoke now" in admin.get(f"{PAGE}?revoke={previous.pk}").content.decode()
    admin.post(f"{PAGE}/{previous.pk}/revoke")
    previous.refresh_from_db()
    assert previous.revoked_at is not None
    page = read_unescaped_html(admin.get(PAGE))
    link = re.search(rf'<code>{previous}</code> revoked <time.*?</time> by <a href="([^"]+)">(\w+)</a>', page)
    entry = AuditEntry.objects.get(action="signing secret revoked")
    assert link[2] == entry.actor
    assert previous.prefix in admin.get(link[1]).content.decode()


def test_activation_asks_first_and_names_the_backends_that_may_lack_the_secret(admin, api, workspace):
    report(api, build_acceptance(workspace.signing_secret), key=workspace.report_key)
    admin.post(f"{PAGE}/prepare")
    prepared = SigningSecret.objects.latest("id")
    page = admin.get(PAGE).content.decode()
    assert f'action="{PAGE}/activate"' not in page
    link = unescape(re.search(r'href="([^"]*activate=[^"]*)"', page)[1])
    question = read_unescaped_html(admin.get(link))
    assert f"Let <code>{prepared}</code> sign?" in question
    assert "rejects every call signed with it, as <code>bad-signature</code>" in question
    assert "cannot be undone" in question
    assert "Make sure that each of these has it: <b>report</b> in production." in question
    assert f'action="{PAGE}/activate"' in question
    assert find_signer(workspace.workspace) != prepared, "a question changes nothing"
    admin.post(f"{PAGE}/activate")
    assert "sign?" not in admin.get(link).content.decode(), "it signs already"


def test_a_question_that_is_still_open_does_not_activate_a_secret_prepared_since(admin, workspace):
    admin.post(f"{PAGE}/prepare")
    first = SigningSecret.objects.latest("id")
    question = admin.get(f"{PAGE}?activate={first.pk}").content.decode()
    form = dict(
        re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', question.partition('id="activate"')[2])
    )
    admin.post(f"{PAGE}/{first.pk}/revoke")
    admin.post(f"{PAGE}/prepare")
    assert "in the meantime" in admin.post(f"{PAGE}/activate", form).content.decode()
    assert find_signer(workspace.workspace).prefix == workspace.signing_secret[:8]


def test_late_environments_of_one_backend_are_one_line_and_the_end_of_a_secret_is_a_moment(admin, api, workspace):
    for environment in ("production", "staging"):
        report(api, build_acceptance(workspace.signing_secret), key=workspace.report_key, environment=environment)
    rotate(admin)
    page = read_html(admin.get(PAGE))
    assert page.count("has not verified with") == 1
    assert "<b>report</b> in production and staging has not verified with" in page
    previous = SigningSecret.objects.get(prefix=workspace.signing_secret[:8])
    assert f"{previous.verifies_until:%a %-d %b, %H:%M}</time>" in page.partition("verifies</span> ends")[2][:200]


def test_a_refusal_is_shown_on_the_page(admin, workspace):
    signer = find_signer(workspace.workspace)
    for action, words in ((f"{signer.pk}/revoke", "Rotate first"), ("activate", "No secret is prepared")):
        assert words in admin.post(f"{PAGE}/{action}").content.decode()


def test_only_admins_see_and_rotate_secrets(workspace, other_workspace, admin):
    editor = sign_in_as(Membership.EDITOR, workspace)
    assert [editor.get(PAGE).status_code, editor.post(f"{PAGE}/prepare").status_code] == [403, 403]
    foreign_secret = other_workspace.workspace.signing_secrets.get()
    assert admin.post(f"{PAGE}/{foreign_secret.pk}/revoke").status_code == 404
    assert SigningSecret.objects.count() == 2


def test_the_csv_of_secrets_has_each_time_also_in_iso_8601(admin):
    header, row = admin.get(f"{PAGE}.csv?table=secrets").getvalue().decode().splitlines()
    names = header.replace('"', "").split(",")
    for name in ("createdAt", "signsFrom", "verifiesUntil", "revokedAt"):
        assert names[names.index(name) + 1] == f"{name}Iso"
    assert len(row.split(",")) == len(names)


def test_who_activates_a_secret_that_somebody_else_activated_or_revoked_reads_that(admin, workspace):
    admin.post(f"{PAGE}/prepare")
    secret = workspace.workspace.signing_secrets.latest("id")
    assert admin.post(f"{PAGE}/activate", {"secret": secret.pk}).status_code == 303
    page = admin.post(f"{PAGE}/activate", {"secret": secret.pk}).content.decode()
    assert f"{secret} was activated already. Nothing was changed." in page
    assert "Prepare one first" not in page
    admin.post(f"{PAGE}/prepare")
    secret = workspace.workspace.signing_secrets.latest("id")
    admin.post(f"{PAGE}/{secret.pk}/revoke")
    page = admin.post(f"{PAGE}/activate", {"secret": secret.pk}).content.decode()
    assert f"{secret} was revoked in the meantime. Nothing was changed." in page
