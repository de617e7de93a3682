"""Templates can be read and compared line by line, and the numbers that they write out are those of the code."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from affidavit._shapes.evidence import MAX_NAMES
from alerts.evaluation.preview import PREVIEW_LENGTH
from alerts.rules import silences, spikes
from alerts.setup.rotate_webhook_secret import PREVIOUS_SIGNS_FOR
from alerts.setup.target_address import MAX_RECIPIENTS
from hub.overview.alarming_rate import ALARMING_FACTOR
from hub.programs.beat_schedule import PRUNED_AT
from hub.search.views import MAX_TEXT as MAX_SEARCH
from intents.gate.confirmations import UNDO_TIME
from intents.rejections.call_outage.call_outage_rule import USUAL
from intents.rejections.detail.rejection import AROUND
from wire.redelivery.idempotency import ANSWER_LIFETIME
from wire.time.period import DEFAULT_LENGTH, DEFAULT_PRESET
from wire.time.timestamps import EARLIEST
from workspaces.annotations.phase_comparison import MOST_PENDING
from workspaces.models import PREFIX_LENGTH
from workspaces.pages.kept_in_session import LIFETIME_SECONDS
from workspaces.people.invitations import invite
from workspaces.people.sign_in import links as sign_in_links
from workspaces.secrets.rotate import PREVIOUS_VERIFIES_FOR
from workspaces.secrets.uses import RECENT
from workspaces.shared_links.links import DAYS

ROOT = Path(__file__).resolve().parents[2]
LONGEST_LINE = 160
WORDS = {3: "three", 7: "seven", 10: "ten"}
SHARES = {0.1: "a tenth"}
TIMES = {2: "twice", 3: "three times"}
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
PASSWORD_LENGTH = settings.AUTH_PASSWORD_VALIDATORS[1]["OPTIONS"]["min_length"]
RESET_DAYS = WORDS[settings.PASSWORD_RESET_TIMEOUT // 86_400]
ACCOUNT, ALERTS, WORKSPACES = "account", "alerts/_partials", "workspaces/_partials"


@pytest.mark.parametrize(
    ("text", "templates"),
    [
        (
            f"within {WORDS[invite.VALID_FOR.days]} days",
            (f"{ACCOUNT}/email/invitation.txt", f"{ACCOUNT}/invitation_gone.html", "workspaces/members.html"),
        ),
        (f"within {sign_in_links.VALID_FOR // MINUTE} minutes", ("account/sign_in_link.html",)),
        (
            f"within {RESET_DAYS} days",
            (
                f"{ACCOUNT}/email/password_reset_key_message.txt",
                f"{ACCOUNT}/password_reset_done.html",
                f"{ACCOUNT}/password_reset_from_key.html",
            ),
        ),
        (
            f"At least {PASSWORD_LENGTH} characters",
            tuple(
                f"{ACCOUNT}/{name}.html"
                for name in ("invitation_new", "password_change", "password_reset_from_key", "password_set")
            ),
        ),
        (f"It is kept for {WORDS[LIFETIME_SECONDS // 60]} minutes", ("intents/inspector.html",)),
        (f"then {WORDS[UNDO_TIME // SECOND]} seconds in which it can be undone", ("intents/_partials/decision.html",)),
        (
            f"failed like this in the {AROUND // HOUR} hours before and after",
            ("intents/_partials/rejection/what_to_do.html",),
        ),
        (
            f"over {SHARES[MOST_PENDING]} of",
            tuple(f"outcomes/_partials/{name}_phases.html" for name in ("join", "key")),
        ),
        (f"More than {MAX_NAMES} names were observed", ("catalog/_partials/overrides/one_field.html",)),
        (f"verifies for {PREVIOUS_VERIFIES_FOR // HOUR} hours", ("workspaces/secrets.html",)),
        (f"verifies for {PREVIOUS_VERIFIES_FOR // HOUR} hours more", (f"{WORKSPACES}/rotation.html",)),
        (
            f"the last {RECENT.days} days",
            tuple(f"{WORKSPACES}/{name}.html" for name in ("activate_secret", "secret_advice", "secret_backends")),
        ),
        (f"over {TIMES[ALARMING_FACTOR]} as high as before", ("hub/_partials/overview/facts.html",)),
        (f'maxlength="{MAX_SEARCH}"', ("hub/_partials/search_form.html",)),
        (
            f'min="{EARLIEST:%Y-%m-%dT%H:%M}"',
            ("workspaces/annotations.html", f"{WORKSPACES}/change_annotation.html"),
        ),
        (f'min="{EARLIEST:%Y-%m-%d}"', ("_partials/period_menu.html",)),
        (f"kept for {ANSWER_LIFETIME // HOUR} hours", ("hub/_partials/confirm_deletion.html",)),
        (
            f"the last {DEFAULT_LENGTH.days} days",
            tuple(f"{WORKSPACES}/{name}.html" for name in ("key_uses", "refused_count", "revoked_keys")),
        ),
        (f"in all environments and the last {DEFAULT_LENGTH.days} days", (f"{WORKSPACES}/v1_window.html",)),
        (f"known version in the last {DEFAULT_LENGTH.days} days", (f"{WORKSPACES}/v1_window.html",)),
        (f"?range={DEFAULT_PRESET}&amp;version=1", (f"{WORKSPACES}/v1_window.html",)),
        (f"</code>, {USUAL.days} days before", (f"{WORKSPACES}/rotation_results.html",)),
        (f"in the {USUAL.days} days before", (f"{WORKSPACES}/rotation_results.html",)),
        (f"Fired, {PREVIEW_LENGTH.days} days", ("alerts/alerts.html",)),
        (f"fired in {PREVIEW_LENGTH.days} days", ("alerts/alerts.html",)),
        *(
            (f"{words} {PRUNED_AT:%-H:%M} UTC", ("hub/retention.html",))
            for words in ("are deleted at", "deleted every night at", "delete at the next")
        ),
        (f"Only the first {PREFIX_LENGTH} characters of a key", ("workspaces/keys.html",)),
        (f"For {PREVIOUS_SIGNS_FOR // HOUR} hours, webhooks are signed", (f"{ALERTS}/rotate_secret.html",)),
        (f"up to {MAX_RECIPIENTS} addresses", (f"{ALERTS}/targets.html",)),
        (f"times the share of the {spikes.BASELINE.days} days before", (f"{ALERTS}/alert_form.html",)),
        (f"any pause of the {silences.HISTORY.days} days before", (f"{ALERTS}/alert_form.html",)),
        (f"pause of the reporter's {silences.HISTORY.days} days before", (f"{ALERTS}/preview.html",)),
        (f"in the last {PREVIEW_LENGTH.days} days", (f"{ALERTS}/preview_verdict.html", "alerts/alerts.html")),
        *(
            (f'<option value="{days}"{" selected" * (days == 7)}>{days} day{"s" * (days > 1)}</option>', (name,))
            for days in DAYS
            for name in ("_partials/share_menu.html",)
        ),
    ],
)
def test_a_template_has_the_number_of_the_code(text, templates):
    for template in templates:
        assert text in " ".join((settings.BASE_DIR / "templates" / template).read_text().split()), template


def test_every_mention_of_the_last_days_has_the_number_of_the_code():
    """A template that names its days twice is right in both places."""
    last_days = {DEFAULT_LENGTH.days, RECENT.days, PREVIEW_LENGTH.days}
    for template in sorted((settings.BASE_DIR / "templates").rglob("*.html")):
        numbers = set(map(int, re.findall(r"the\s+last\s+(\d+)\s+days", template.read_text())))
        assert numbers <= last_days, template
        assert len(numbers) < 2, template


def test_a_page_offers_no_other_length_of_time_for_a_shared_link():
    share = (settings.BASE_DIR / "templates/_partials/share_menu.html").read_text()
    assert share.count("<option") == len(DAYS)


def test_no_line_of_a_template_is_too_long():
    long_lines = [
        f"{template.relative_to(ROOT)}:{number}"
        for template in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(template.read_text().splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert long_lines == []


@pytest.mark.parametrize("template", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.name)
def test_no_template_has_a_script_or_a_style_in_it(template):
    text = template.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|hx-on", text)


@pytest.mark.parametrize("template", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.name)
def test_every_details_element_is_a_menu_or_keeps_its_state(template):
    for tag in re.findall(r"<details\b(?:{%.*?%}|[^>{])*>", template.read_text(), re.S):
        assert "data-menu" in tag or "{% disclosure" in tag, f"{tag}: name it with the tag disclosure"
