"""One rejection's page: its facts, the usual fix, and the other events of its tool call."""

from __future__ import annotations

import json
import re
from dataclasses import astuple
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from affidavit import CHECKS
from intents.models import MintedIntent, Rejection
from intents.rejections.detail.operation_difference import compare_operations
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.page_text import read_html, read_unescaped_html
from workspaces.models import SigningSecret, Workspace


@pytest.fixture
def rejection(production: Any, refund_time: datetime) -> Rejection:
    """Return the first rejection of the refund, whose call was delivered more than once."""
    for seconds in (20, 40):
        moment = refund_time + timedelta(seconds=seconds)
        verification = Verification("audience-mismatch", moment, 2, "POST /refunds", "call_81")
        record_verifications(production, [verification])
    record_verifications(production, [Verification("audience-mismatch", refund_time, 2, "POST /refunds", "call_82")])
    return Rejection.objects.filter(tool_call_id="call_81").earliest("occurred_at")


def test_the_list_links_to_a_rejection_and_its_page_to_the_inspector(browser_client, start, rejection):
    text = browser_client.get(f"{start}/rejections").content.decode()
    links = [unescape(link) for link in re.findall(r'href="([^"]*/rejection\?[^"]*)"', text)]
    link = next(link for link in links if f"id={rejection.pk}" in link)
    page = read_html(browser_client.get(link))
    assert "<h1>audience-mismatch</h1>" in page
    advice = f"set the verifier's <code>audience</code> to <code>{rejection.environment.audience}</code>"
    assert advice in unescape(page)
    assert "<code>call_81</code>" in page
    assert "<b>3 calls</b> of this operation failed like this in the 24 hours before and after this one" in page
    [listed] = re.findall(r'<a href="([^"]*)#singles">See them</a>', page)
    rejections = browser_client.get(unescape(listed)).context["rejections"].paginator.object_list
    assert sum(row.count for row in rejections) == 3
    assert "<code>user_17</code>" in page
    assert f"{start}/operation?method=POST&path=%2Frefunds" in unescape(page)
    inspector = next(unescape(link) for link in re.findall(r'href="([^"]*/inspector\?[^"]*)"', page))
    form = browser_client.get(inspector).content.decode()
    assert 'value="POST"' in form
    assert 'value="/refunds"' in form
    assert f'value="{rejection.occurred_at.isoformat().replace("+00:00", "Z")}"' in form


def test_the_page_tells_what_happened_to_the_tool_call_in_order(browser_client, start, rejection):
    query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
    events = json.loads(browser_client.get(f"{start}/rejection.json", query).getvalue())["tables"]["events"]
    assert [(event["event"], event["reason"]) for event in events] == [
        ("confirmation requested", ""),
        ("confirmed", ""),
        ("confirmation used", ""),
        ("intent minted", ""),
        ("rejected", "audience-mismatch"),
        ("rejected", "audience-mismatch"),
    ]
    page = browser_client.get(f"{start}/rejection", query).content.decode()
    assert "Refund &lt;12.50&gt;" in page


def read_page(browser_client: Client, start: str, rejection: Rejection) -> str:
    query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
    return read_unescaped_html(browser_client.get(f"{start}/rejection", query))


def test_the_page_names_both_audiences_of_an_intent_minted_by_another_environment(browser_client, start, rejection):
    staging = rejection.environment.workspace.environments.get(name="staging")
    record_verifications(
        staging, [Verification("audience-mismatch", rejection.occurred_at, 2, "POST /refunds", "call_81")]
    )
    page = read_page(browser_client, start.replace("production", "staging"), Rejection.objects.get(environment=staging))
    assert f'<a href="{start}/toolcalls?user=user_17&range=all"><code>user_17</code></a>' in page
    toolcall = f'<a href="{start}/toolcall?id=call_81"> production </a>'
    assert f"<code><mark>{rejection.environment.audience}</mark></code>, audience of {toolcall}" in page
    assert f"<code><mark>{staging.audience}</mark></code>, audience of staging" in page
    assert "minted for production, and its call came to a backend of staging, which is right to reject it" in page


ORDER = "In the order of the SDK and the hub, "


def test_the_page_of_a_call_from_before_its_intent_by_a_slow_clock_names_this_intent(browser_client, start, production):
    received_at = timezone.now().replace(microsecond=0) - timedelta(hours=1)
    for user, minutes in (("user_17", -5), ("user_18", 2), ("user_19", 4)):
        issued_at = received_at + timedelta(minutes=minutes)
        MintedIntent.objects.create(
            environment=production, tool_call_id="call_early", sub=user, operation="POST /refunds", args_hash="h",
            issued_at=issued_at, expires_at=issued_at + timedelta(minutes=5),
        )  # fmt: skip
    record_verifications(production, [Verification("not-yet-valid", received_at, 2, "", "call_early")])
    rejection = Rejection.objects.get(tool_call_id="call_early")
    query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
    page = browser_client.get(f"{start}/rejection", query)
    assert page.context["intent"].sub == "user_18"
    assert "By the clock of the backend, the call came 2 min before that." in read_html(page)


@pytest.mark.parametrize(("reason", "version", "words"), [
    ("missing-header", 0, f"<b>Presence</b>, the 1st of 11 {ORDER}the 10 after it were not made."),
    ("audience-mismatch", 2,
     f"<b>Audience</b>, the 7th of 11 {ORDER}the 6 checks before it passed, and the 4 after it were not made."),
    ("step-up-required", 2,
     f"<b>Step-up</b>, the 10th of 11 {ORDER}the 9 checks before it passed, and the one after it was not made."),
    ("replayed", 2, f"<b>Nonce</b>, the 11th of 11 {ORDER}the 10 checks before it passed."),
    ("path-mismatch", 1, "the 7 checks before it passed or had nothing to compare in version 1, and the 3 after it"),
    ("malformed", 0, "<b>Decoding</b>, the 2nd of 11, or <b>payload</b>, the 4th The report does not say which"),
])  # fmt: skip
def test_the_page_names_the_failed_check_and_its_place_in_the_order(
    browser_client, start, production, reason, version, words
):
    record_verifications(production, [Verification(reason, timezone.now(), version, "POST /refunds")])
    page = read_page(browser_client, start, Rejection.objects.get())
    text = " ".join(re.sub(r"<(?!/?b>)[^>]*>", " ", page).split())
    assert words in text
    assert f'<a href="{start}/glossary#order-of-checks">Order of checks</a>' in page
    rejections = browser_client.get(f"{start}/rejections").content.decode()
    assert f'<a href="{start}/glossary#order-of-checks">Order of checks</a>' in rejections
    glossary = browser_client.get(f"{start}/glossary").content.decode()
    table = glossary.partition('id="order-of-checks"')[2].partition("</table>")[0]
    assert re.findall(r"<th[^>]*>([A-Z][a-z-]+)</th>", table)[-11:] == [name.capitalize() for name in CHECKS]


def test_the_page_of_an_expired_call_lists_possible_causes_with_what_is_stored(browser_client, start, production, api):
    now = timezone.now() - timedelta(hours=1)
    times = {"first": now.timestamp(), "later": (now + timedelta(seconds=30)).timestamp()}
    expired = {"result": "expired", "version": 2, "operation": "POST /refunds"}
    report = {"reportId": "00000000-0000-4000-8000-000000000001", "verifications": [
        {**expired, "toolCallId": "call_7", "occurredAt": times["first"]},
        {**expired, "toolCallId": "call_7", "occurredAt": times["later"]},
        {**expired, "toolCallId": "call_8", "occurredAt": times["first"] - 5},
        {"result": "accepted", "version": 2, "operation": "GET /orders", "count": 5, "occurredAt": times["first"]},
    ]}  # fmt: skip
    assert api.post("/api/verification-reports", report).status_code == 200
    page = read_page(browser_client, start, Rejection.objects.latest("occurred_at"))
    assert "the likelier first; none is certain" in page
    cells = r'<th scope="row" class="whole">([^<]*)</th> <td data-is="Stored" class="whole">([^<]*)</td>'
    causes = re.findall(cells, page)
    assert [title.split(" ")[1] for title, _ in causes] == ["retry", "call", "clock", "signer's"]
    evidence = dict(causes)
    retry = "A retry was sent with the intent of an earlier attempt"
    assert evidence[retry] == "This call had been rejected once before."
    assert evidence["The clock of this backend is ahead"] == (
        "5 calls of this environment passed within half an hour; by which backend is not stored."
        " The same key reported 1 more call as expired then."
    )
    assert "this hub minted no intent for this tool call before the rejection" in page
    other = read_page(browser_client, start, Rejection.objects.earliest("occurred_at"))
    assert "No earlier rejection of this call is stored." in other


def test_without_a_trusted_intent_no_id_of_a_tool_call_is_asked_for(browser_client, start, production):
    for reason in ("missing-header", "malformed", "bad-signature"):
        record_verifications(production, [Verification(reason, timezone.now())])
        page = read_page(browser_client, start, Rejection.objects.get(reason=reason))
        assert "in the report, the minted intent can be found" not in page, reason


def test_the_page_names_the_key_that_reported_the_rejection(browser_client, start, production, api):
    report = {"reportId": "00000000-0000-4000-8000-000000000001", "verifications": [{"result": "expired"}]}
    assert api.post("/api/verification-reports", report).status_code == 200
    rejection = Rejection.objects.get()
    key = rejection.api_key
    assert f"<b>{key.name}</b> <code>{key.prefix}…</code></a>" in read_page(browser_client, start, rejection)
    record_verifications(production, [Verification("replayed", timezone.now())])
    page = read_page(browser_client, start, Rejection.objects.get(reason="replayed"))
    assert '<th scope="row">Reported by</th> <td> <span class="soft">Not recorded</span>' in page


@pytest.mark.parametrize(("version", "v1_days", "cause"), [
    (0, None, "The payload is of neither version, or the report lacks <code>version</code>."),
    (1, None, "The workspace accepts version 1 with no end date. The backend asks for version 2"),
    (1, 3, "The workspace accepts version 1 until"),
    (1, -3, "its dual-accept window has ended"),
    (2, None, "This route asks for a newer version."),
])  # fmt: skip
def test_the_page_says_why_a_version_is_unsupported(browser_client, start, production, version, v1_days, cause):
    now = timezone.now()
    if v1_days is not None:
        Workspace.objects.filter(pk=production.workspace_id).update(v1_until=now + timedelta(days=v1_days))
    record_verifications(production, [Verification("unsupported-version", now, version, "POST /refunds")])
    page = read_page(browser_client, start, Rejection.objects.get())
    assert cause in page
    assert "with <code>toolCallId</code> in the report, the minted intent can be found" in page


def test_a_rejection_without_a_tool_call_has_no_other_events(browser_client, start, production):
    record_verifications(production, [Verification("missing-header", timezone.now())])
    rejection = Rejection.objects.get()
    query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
    page = browser_client.get(f"{start}/rejection", query).content.decode()
    assert "No tool call was reported" in page
    events = json.loads(browser_client.get(f"{start}/rejection.json", query).getvalue())["tables"]["events"]
    assert [event["event"] for event in events] == ["rejected"]


@pytest.mark.parametrize(
    "query",
    [{}, {"id": "1"}, {"at": "2026-01-01T00:00:00+00:00", "id": "x"}, {"at": "never", "id": "1"},
     {"at": "2026-01-01", "id": "1"}, {"at": "2026-01-01T00:00:00+00:00", "id": "9" * 30},
     {"at": "0001-01-01", "id": "²"}],
)  # fmt: skip
def test_an_address_without_a_rejection_is_404_and_says_what_to_do(browser_client, start, query):
    response = browser_client.get(f"{start}/rejection", query)
    assert response.status_code == 404
    assert "Look at the list" in response.content.decode()


def test_another_environment_and_an_outsider_have_no_such_rejection(
    browser_client, start, rejection, workspace, other_workspace
):
    query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
    assert browser_client.get(f"{start.replace('production', 'staging')}/rejection", query).status_code == 404
    stranger = get_user_model().objects.create_user("stranger")
    stranger.memberships.create(workspace=other_workspace.workspace, role="admin")
    client = Client()
    client.force_login(stranger)
    assert client.get(f"{start}/rejection", query).status_code == 404


@pytest.mark.parametrize(
    ("signed", "called", "difference"),
    [
        ("GET /orders/", "GET /orders", ("GET /orders", "/", "", "")),
        ("GET /orders", "PUT /orders", ("", "GE", "PU", "T /orders")),
        ("GET /aa", "GET /aaa", ("GET /aa", "", "a", "")),
        ("GET /orders", "GET /orders", None),
        ("GET /orders", "", None),
    ],
)
def test_the_difference_of_two_operations_is_between_their_common_prefix_and_suffix(signed, called, difference):
    comparison = compare_operations(signed, called)
    assert (comparison and astuple(comparison)) == difference


def test_the_page_marks_where_the_signed_operation_differs(browser_client, start, rejection):
    assert "Called as" not in read_page(browser_client, start, rejection)
    Rejection.objects.filter(pk=rejection.pk).update(operation="POST /refunds/", reason="operation-mismatch")
    page = read_page(browser_client, start, Rejection.objects.get(pk=rejection.pk))
    assert re.search(
        r"Signed for</th> <td> <code>POST /refunds</code> .*Called as</th> <td> <code>POST /refunds<mark>/</mark>", page
    )
    assert "They differ in one slash at the end: mint for the path that is called." in page


def test_the_inspector_says_which_rejection_filled_it_in(browser_client, start, rejection):
    link = re.search(r'href="([^"]+/inspector[^"]+)"', read_page(browser_client, start, rejection))[1]
    page = read_html(browser_client.get(unescape(link)))
    assert f'Filled in from the rejection <a href="{start}/rejection?' in page
    assert f"<code>{rejection.reason}</code></a>. Paste its X-Service-Intent header" in page
    assert (
        "Filled in from"
        not in browser_client.get(f"{start}/inspector?reason=<b>&rejection=1&received_at=x").content.decode()
    )


def test_the_template_of_the_signed_path_is_the_same_operation(browser_client, start, rejection):
    """The report names the template of the path that the intent names, so both are the same operation."""
    Rejection.objects.filter(pk=rejection.pk).update(operation="POST /refunds/{id}", reason="replayed")
    MintedIntent.objects.filter(tool_call_id=rejection.tool_call_id).update(operation="POST /refunds/8412")
    page = read_page(browser_client, start, Rejection.objects.get(pk=rejection.pk))
    assert "Called as" not in page
    assert '<span class="soft">signed as</span> <code>POST /refunds/8412</code>' in page
    assert "/inspector?method=POST&path=%2Frefunds%2F8412&" in unescape(page)


def test_a_bad_signature_after_a_rotation_names_the_secret_that_this_backend_never_verified_with(
    browser_client, start, production
):
    key = production.workspace.api_keys.get(name="report")
    previous = SigningSecret.objects.get(workspace=production.workspace)
    rotation = timezone.now().replace(microsecond=0) - timedelta(hours=1)
    SigningSecret.objects.update(signs_from=rotation - timedelta(days=1))
    signer = SigningSecret.objects.create(
        workspace=production.workspace, ciphertext=b"", prefix="gas_new1", created_at=rotation, signs_from=rotation
    )

    def record(result, minutes, **facts):
        moment = rotation + timedelta(minutes=minutes)
        record_verifications(production, [Verification(result, moment, **facts)], api_key=key)

    def read_advice(minutes):
        rejection = Rejection.objects.get(occurred_at=rotation + timedelta(minutes=minutes))
        address = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
        page = read_html(browser_client.get(f"{start}/rejection", address))
        return page.partition('aria-label="What to do"')[2].partition("</aside>")[0]

    record("accepted", -5, secret=previous.prefix)
    for minutes in (-1, 1):
        record("bad-signature", minutes)
    advice = read_advice(1)
    assert f"<code>{signer}</code> signs since <time" in advice
    assert f"{rotation:%H:%M:%S}</time>, and this backend has never verified with it" in advice
    assert f'href="{start}/secrets"' in advice
    assert "never verified" not in read_advice(-1)
    SigningSecret.objects.filter(pk=signer.pk).update(signs_from=rotation + timedelta(minutes=1, microseconds=97829))
    assert "never verified" in read_advice(1)  # the times in reports are whole seconds
    record("accepted", 2, secret=signer.prefix)
    assert "never verified" not in read_advice(1)
