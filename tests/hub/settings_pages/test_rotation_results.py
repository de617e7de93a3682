"""The page of signing secrets says what became of calls since the present secret began to sign."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.page_text import read_html
from workspaces.models import SigningSecret

PAGE = "/w/lumen-books/production/secrets"
OVERVIEW = "/w/lumen-books/production/overview"
SENTENCE = r"<b class=.bad.>Production accepts no call.*?bad-signature</code>"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def rotation(workspace):
    """Rotate the signing secret an hour ago. Return the secret that has signed since then."""
    moment = timezone.now() - 60 * MINUTE
    SigningSecret.objects.update(signs_from=moment - timedelta(days=30))
    return SigningSecret.objects.create(
        workspace=workspace.workspace, ciphertext=b"", prefix="gas_new1", created_at=moment, signs_from=moment
    )


def read_results(client):
    return json.loads(client.get(f"{PAGE}.json").getvalue())["tables"]["results"]


def record(environment, signer, result, minutes, **facts):
    """Record verifications this many minutes after the secret began to sign."""
    key = environment.workspace.api_keys.get(name="report")
    moment = signer.signs_from + minutes * MINUTE
    record_verifications(environment, [Verification(result, moment, **facts)], api_key=key)


def test_a_backend_without_the_new_secret_is_named_with_both_counts(browser_client, production, rotation):
    assert read_results(browser_client) == []
    record(production, rotation, "accepted", -600, count=990)
    record(production, rotation, "bad-signature", -600, count=1)
    record(production, rotation, "accepted", 2, count=3)  # their intents were signed before the rotation
    record(production, rotation, "bad-signature", 3, count=37)
    page = read_html(browser_client.get(PAGE))
    assert "Production accepts no call that <code>gas_new1…</code> signed." in page
    assert "0 accepted, 37 rejected as <code>bad-signature</code>" in page
    assert "Add <code>gas_new1…</code> to the secrets of the backend and deploy it." in page
    [row] = read_results(browser_client)
    assert (row["environment"], row["accepted"], row["badSignatures"]) == ("production", 0, 37)
    assert (row["badSignaturesBefore"], row["verificationsBefore"], row["noneAcceptedSince"]) == (1, 991, True)
    [sentence] = re.findall(SENTENCE, page)
    overview = read_html(browser_client.get(OVERVIEW))
    assert sentence in overview
    assert f"{rotation.signs_from:%H:%M:%S}</time>): 0 accepted, 37 rejected" in sentence
    assert "No call was accepted" not in overview
    assert json.loads(browser_client.get(f"{OVERVIEW}.json").getvalue())["tables"]["unknown-secret"] == [row]


def test_an_old_intent_that_is_accepted_neither_ends_the_alarm_nor_changes_the_count(
    browser_client, production, rotation
):
    previous = SigningSecret.objects.exclude(pk=rotation.pk).get()
    record(production, rotation, "accepted", -600, count=990, secret=previous.prefix)
    record(production, rotation, "bad-signature", 0.5, count=13)
    for minutes in (1, 2, 3):
        record(production, rotation, "accepted", minutes, secret=previous.prefix)  # signed before the rotation
        for address in (PAGE, OVERVIEW):
            assert "0 accepted, 13 rejected as" in read_html(browser_client.get(address))
    assert read_results(browser_client)[0]["noneAcceptedSince"] is True


def test_see_them_lists_the_rejections_that_the_sentence_counts(browser_client, production, rotation):
    """The link beside the sentence is called "See them"."""
    signs_from = timezone.now().replace(minute=10, second=30) - timedelta(hours=2)
    SigningSecret.objects.filter(pk=rotation.pk).update(signs_from=signs_from)
    rotation.refresh_from_db()
    record(production, rotation, "accepted", -1, count=400)
    record(production, rotation, "bad-signature", -0.1, count=3)
    record(production, rotation, "bad-signature", 0.1, count=9)
    record(production, rotation, "bad-signature", 30, count=28)
    for address in (PAGE, OVERVIEW):
        page = read_html(browser_client.get(address))
        link = unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1])
        list_head = read_html(browser_client.get(link)).partition("Latest rejections")[2]
        assert "2 since <time" in list_head[:400]
        assert f"{signs_from:%H:%M:%S}</time>, for 37 calls" in list_head


def test_rejections_in_the_second_of_the_rotation_are_counted(browser_client, production, rotation):
    """The times in reports are whole seconds. The time from which a secret signs has microseconds."""
    signs_from = timezone.now().replace(minute=10, second=7, microsecond=97829) - timedelta(hours=2)
    SigningSecret.objects.filter(pk=rotation.pk).update(signs_from=signs_from)
    rotation.refresh_from_db()
    record(production, rotation, "accepted", -600, count=990)
    key = production.workspace.api_keys.get(name="report")
    second = signs_from.replace(microsecond=0)
    for occurred_at, count in ((second - timedelta(seconds=1), 3), (second, 4), (second + MINUTE, 9)):
        record_verifications(production, [Verification("bad-signature", occurred_at, count=count)], api_key=key)
    for address in (PAGE, OVERVIEW):
        page = read_html(browser_client.get(address))
        assert "0 accepted, 13 rejected as" in page
        link = unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1])
        answer = browser_client.get(link)
        assert answer.context["listed_calls"] == 13
        assert [row.rejections for row in answer.context["keys"]] == [13]
    [row] = read_results(browser_client)
    assert row["badSignatures"] == 13


def test_see_them_lists_the_rejections_after_the_last_accepted_call(browser_client, production, rotation):
    """Calls that were rejected in the same second as the accepted call may have come before it."""
    record(production, rotation, "accepted", -600, count=990)
    accepted_at = timezone.now().replace(minute=10, second=7, microsecond=0) - timedelta(hours=1)
    for result, seconds, count in (("accepted", 0, 1), ("expired", 0, 2), ("expired", 1, 9)):
        occurred_at = accepted_at + timedelta(seconds=seconds)
        record_verifications(production, [Verification(result, occurred_at, count=count)])
    page = read_html(browser_client.get(OVERVIEW))
    assert f"{accepted_at:%H:%M:%S}</time>.</b> 9 were rejected, all as <code>expired</code>" in page
    answer = browser_client.get(unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1]))
    assert answer.context["listed_calls"] == 9
    assert re.search(rf"Calls rejected since <time[^>]*>[^<]*{accepted_at:%H:%M:%S}</time>", read_html(answer))


def test_the_outage_is_not_shown_again_as_a_rise(browser_client, production, rotation):
    record(production, rotation, "accepted", -8 * 1440, count=9000)
    record(production, rotation, "accepted", -60, count=40)
    record(production, rotation, "bad-signature", 3, count=37)
    overview = read_html(browser_client.get(OVERVIEW))
    assert "Production accepts no call" in overview
    assert "More calls are rejected" not in overview
    assert "for a new reason" not in overview


def test_calls_that_were_verified_with_the_new_secret_are_counted(browser_client, production, rotation):
    record(production, rotation, "accepted", -600, count=990)
    record(production, rotation, "bad-signature", 3, count=37)
    record(production, rotation, "accepted", 10, count=5, secret="gas_new1")
    [row] = read_results(browser_client)
    assert (row["accepted"], row["badSignatures"], row["noneAcceptedSince"]) == (5, 37, False)
    assert "accepts no call" not in read_html(browser_client.get(PAGE))
    assert "accepts no call" not in read_html(browser_client.get(OVERVIEW))


def test_a_backend_that_does_not_report_its_secret_is_not_said_to_lack_it(browser_client, production, rotation):
    record(production, rotation, "accepted", 20, count=5)
    [row] = read_results(browser_client)
    assert (row["accepted"], row["noneAcceptedSince"]) == (None, False)
    assert "not reported" in read_html(browser_client.get(PAGE))
    old = SigningSecret.objects.exclude(pk=rotation.pk).get()
    record(production, rotation, "accepted", 30, count=5, secret=old.prefix)
    record(production, rotation, "bad-signature", 31, count=2)
    [row] = read_results(browser_client)
    assert (row["accepted"], row["badSignatures"]) == (0, 2)


def test_another_reason_does_not_blame_the_secret(browser_client, production, rotation):
    record(production, rotation, "accepted", -600, count=990)
    record(production, rotation, "expired", 3, count=37)
    assert "accepts no call" not in read_html(browser_client.get(PAGE))
    assert "accepts no call" not in read_html(browser_client.get(OVERVIEW))
