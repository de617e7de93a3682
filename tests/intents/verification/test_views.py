"""The intent inspector shows every check with signed and actual values, and stores nothing permanently."""

from __future__ import annotations

import base64
import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from affidavit import REASONS, mint_intent
from intents.models import MintedIntent, Rejection, UsedNonce, VerificationTally
from tests.page_text import read_html
from workspaces.pages.kept_in_session import LIFETIME_SECONDS
from workspaces.secrets.revoke import revoke_secret
from workspaces.secrets.rotate import rotate_secret

FORM = {"method": "POST", "path": "/refunds", "content_type": "application/json", "body": '{"amount": 1250}'}


@pytest.fixture
def address(workspace) -> str:
    return f"/w/{workspace.workspace.slug}/production/inspector"


@pytest.fixture
def header(workspace, production):
    def make(**facts) -> str:
        facts = {
            "tenant_id": workspace.workspace.id, "sub": "user_17", "aud": production.audience,
            "operation": "POST /refunds", "args": {"amount": 1250}, **facts,
        }  # fmt: skip
        return mint_intent(workspace.signing_secret, **facts).header

    return make


@pytest.fixture
def inspect(browser_client, address):
    def post(header: str, headers=None, **members):
        form = {**FORM, "header": header, **members}
        return browser_client.post(f"{address}/checks", form, headers=headers, follow=True)

    return post


def read_states(response) -> dict[str, str]:
    return {check.name: check.state for check in response.context["inspection"].checks}


def test_a_secret_that_was_revoked_later_verified_at_the_time_of_receipt(inspect, header, workspace):
    now = timezone.now()
    received_at = now - timedelta(minutes=1)
    pasted_header = header(now=received_at.timestamp())
    rotate_secret(workspace.workspace, actor="ada", now=now)
    revoke_secret(workspace.workspace.signing_secrets.earliest("id"), actor="ada", now=now)
    response = inspect(pasted_header, received_at=received_at.isoformat())
    assert read_states(response)["signature"] == "passed"
    assert "Signed by a secret of this workspace" in response.content.decode()
    later = inspect(pasted_header, received_at=(now + timedelta(seconds=1)).isoformat())
    assert later.context["inspection"].reason.slug == "bad-signature"
    assert "Not signed by any secret of this workspace that was valid then" in later.content.decode()


def test_the_empty_inspector_is_a_form(browser_client, address):
    response = browser_client.get(address)
    assert response.status_code == 200
    assert 'name="header"' in response.content.decode()
    assert response.context["inspection"] is None


@pytest.mark.parametrize(("example", "reason"), [("passes", None), ("fails", "args-mismatch")])
def test_an_example_passes_or_fails_as_named_stores_no_intent_and_is_rejected_by_the_api(
    browser_client, address, api, production, example, reason
):
    page = browser_client.get(address).content.decode()
    assert f'href="{address}?example={example}"' in page
    response = browser_client.get(address, {"example": example})
    inspection, form = response.context["inspection"], response.context["form"]
    assert (inspection.reason.slug if inspection.reason else None) == reason
    assert inspection.is_proven
    assert not MintedIntent.objects.exists()
    assert "no-store" in response["Cache-Control"]
    body = base64.b64encode(form.data["body"].encode()).decode()
    call = {"method": "POST", "path": "/cart/lines", "contentType": "application/json", "bodyBase64": body}
    refused = api.post("/api/intents/verify", {**call, "header": form.data["header"]})
    assert refused.json()["reason"] == "expired"


def test_a_request_that_would_pass_passes_every_check(inspect, header):
    response = inspect(header())
    assert set(read_states(response).values()) == {"passed"}
    text = response.content.decode()
    assert "Would pass" in text
    assert text.count('role="img" aria-label="passed"') == 11  # a screen reader ignores the label of a mere span


def test_the_first_failure_is_shown_with_both_values_and_its_fix(inspect, header, production):
    response = inspect(header(aud="https://api.lumen.example"))
    check_states = read_states(response)
    assert list(check_states) == list(dict.fromkeys(reason.check for reason in REASONS.values()))
    assert check_states["workspace"] == "passed"
    assert (check_states["audience"], check_states["operation"]) == ("failed", "passed")
    text = response.content.decode()
    position = 1 + list(check_states).index("audience")
    assert f"Fails at check {position} of 11, audience · as received" in " ".join(text.split())
    assert "https://api.lumen.example" in text
    assert production.audience in text
    assert production.workspace_id in text
    assert escape(REASONS["audience-mismatch"].usual_fix) in text


def test_an_older_header_is_checked_at_its_time_of_receipt(inspect, header):
    issued = int(timezone.now().timestamp()) - 86_400
    pasted_header = header(now=issued, aud="https://api.lumen.example")
    assert inspect(pasted_header).context["inspection"].reason.slug == "expired"
    for moment in (str(issued + 2), str((issued + 2) * 1000), datetime.fromtimestamp(issued + 2, UTC).isoformat()):
        response = inspect(pasted_header, received_at=moment)
        assert response.context["inspection"].reason.slug == "audience-mismatch", moment
        assert {state for name, state in read_states(response).items() if name != "audience"} == {"passed"}
        assert moment in response.content.decode()


@pytest.mark.parametrize("moment", ["yesterday", "1e400", "nan", "-1", "9999-01-01", "2026-02-30", "²"])
def test_an_invalid_time_of_receipt_is_refused_with_advice(inspect, header, moment):
    response = inspect(header(), received_at=moment)
    assert (response.status_code, response.context["inspection"]) == (200, None)
    assert response.context["form"].errors["received_at"]


def test_every_failed_check_is_shown_and_the_payload_decoded(inspect, header):
    response = inspect(header(aud="https://api.lumen.example", args={}), path="/other")
    failed = {check.name: check.reason for check in response.context["inspection"].checks if check.reason}
    assert failed == {
        "audience": "audience-mismatch", "operation": "operation-mismatch", "arguments": "args-mismatch",
    }  # fmt: skip
    text = read_html(response)
    assert re.search(r"Fails at check \d+ of 11, audience; 2 later checks would fail too · as", text)
    assert text.count('aria-label="would fail too"') == 2
    assert "Signed by a secret of this workspace" in text
    assert "&quot;user_17&quot;" in text
    assert "the end user to authorize against" in text


def test_a_payload_with_a_wrong_signature_is_decoded_with_a_warning(inspect, workspace, production):
    forged_header = mint_intent(
        "gas_" + "x" * 40, tenant_id="ws_other", sub="<b>eve</b>", aud=production.audience,
        operation="POST /refunds", args={"amount": 1250},
    ).header  # fmt: skip
    response = inspect(forged_header)
    text = response.content.decode()
    assert read_states(response)["workspace"] == "failed"
    assert "anybody may have written it" in text
    assert "The signature is right" not in text
    assert "The intent names another workspace" in text
    assert "&lt;b&gt;eve&lt;/b&gt;" in text
    assert "<b>eve" not in text


@pytest.mark.parametrize(
    ("expires_at", "zone"), [(253402300799000, "Europe/Vienna"), (-62135596800, "America/New_York"), (1e300, "UTC")]
)
def test_a_time_that_no_date_of_its_zone_can_show_is_shown_as_its_number(inspect, browser_client, expires_at, zone):
    payload = json.dumps({"issuedAt": 1790000000, "expiresAt": expires_at})
    header = base64.urlsafe_b64encode(f'{{"payload": {payload}, "signature": "{"0" * 64}"}}'.encode()).decode()
    address = inspect(header).redirect_chain[-1][0]
    page = browser_client.get(f"{address}&tz={zone}")
    assert page.status_code == 200
    assert str(expires_at) in page.content.decode()


def test_a_reload_shows_the_result_again_and_no_browser_stores_it(inspect, header, browser_client, address):
    pasted_header = header()
    first = inspect(pasted_header)
    assert "no-store" in first["Cache-Control"]
    ((result, status),) = first.redirect_chain
    assert status == 303
    assert pasted_header not in result
    browser_client.get(address)
    for _ in range(2):
        again = browser_client.get(result, headers={"if-none-match": first.get("ETag", "*")})
        assert again.status_code == 200
        assert "Would pass" in again.content.decode()
        assert pasted_header in again.content.decode()
        assert again.context["inspection"].received_at == first.context["inspection"].received_at


def test_a_check_is_kept_for_ten_minutes_or_until_the_next(inspect, header, browser_client, monkeypatch):
    ((first, _),) = inspect(header()).redirect_chain
    ((second, _),) = inspect(header(aud="urn:elsewhere")).redirect_chain
    assert "no longer kept" in browser_client.get(first).content.decode()
    assert "audience-mismatch" in browser_client.get(second).content.decode()
    later = time.time() + LIFETIME_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    page = browser_client.get(second)
    assert "no longer kept" in page.content.decode()
    assert page.context["inspection"] is None
    assert "shown once: inspector check" not in browser_client.session


def test_another_person_does_not_see_a_check(inspect, header, workspace):
    ((result, _),) = inspect(header()).redirect_chain
    colleague = get_user_model().objects.create_user("colleague")
    colleague.memberships.create(workspace=workspace.workspace, role="admin")
    client = Client()
    client.force_login(colleague)
    assert client.get(result).context["inspection"] is None


def test_a_link_from_a_rejection_fills_in_the_form(browser_client, address):
    text = browser_client.get(f"{address}?method=PUT&path=/a&received_at=2026-03-01T14:02:12Z").content.decode()
    assert 'value="PUT"' in text
    assert 'value="/a"' in text
    assert 'value="2026-03-01T14:02:12Z"' in text


def test_a_template_is_not_taken_for_the_path_that_was_called(browser_client, address):
    page = browser_client.get(address, {"method": "GET", "path": "/orders/{orderId}"}).content.decode()
    assert 'name="path" value=""' in page
    assert "<code>/orders/{orderId}</code>. Put in the path that was called." in page


def test_a_check_stores_nothing_and_uses_no_nonce(inspect, header):
    pasted_header, before = header(), UsedNonce.objects.count()
    for _ in range(2):
        assert set(read_states(inspect(pasted_header)).values()) == {"passed"}
    inspect("nonsense")
    assert (VerificationTally.objects.count(), Rejection.objects.count()) == (0, 0)
    assert UsedNonce.objects.count() == before


def test_a_used_intent_is_shown_as_replayed(inspect, header, api):
    pasted_header = header()
    call = {"header": pasted_header, "method": "POST", "path": "/refunds", "contentType": "application/json",
            "bodyBase64": base64.b64encode(FORM["body"].encode()).decode()}  # fmt: skip
    assert api.post("/api/intents/verify", call).status_code == 200
    assert read_states(inspect(pasted_header))["nonce"] == "failed"


def test_a_pasted_header_line_with_line_ends_is_accepted(inspect, header):
    response = inspect(f"\r\nX-Service-Intent: {header()}\r\n")
    assert set(read_states(response).values()) == {"passed"}


def test_an_encoded_body_is_shown_as_refused(inspect, header):
    response = inspect(header(), content_encoding="gzip")
    assert read_states(response)["arguments"] == "failed"
    assert "the body has a Content-Encoding: send it plain" in response.content.decode()


def test_line_ends_of_a_body_are_read_as_line_feeds(inspect, header):
    response = inspect(header(), body='{"amount":\r\n 1250}')
    assert read_states(response)["arguments"] == "passed"


def test_the_pasted_text_is_in_the_form_again_and_escaped(inspect):
    text = inspect("<script>alert(1)</script>", body="</textarea><b>").content.decode()
    assert "<script>alert(1)" not in text
    assert "&lt;/textarea&gt;&lt;b&gt;" in text


@pytest.mark.parametrize("missing", ["method", "path"])
def test_method_and_path_are_needed(inspect, header, missing):
    response = inspect(header(), **{missing: ""})
    assert response.status_code == 200
    assert response.context["inspection"] is None
    assert 'aria-invalid="true"' in response.content.decode()


@pytest.mark.parametrize("field", ["header", "query", "content_type", "content_encoding", "body"])
def test_a_pasted_nul_is_named_at_its_field(inspect, header, field):
    """A form holds text, so the inspector takes no body with null characters."""
    response = inspect(**{"header": header(), field: "a\0b"})
    assert response.context["inspection"] is None
    (fault,) = re.findall(
        r'id="(inspector-[a-z]+-fault)">Null characters are not allowed.</span>', response.content.decode()
    )
    assert f'aria-invalid="true" aria-describedby="{fault}"' in response.content.decode()


def test_a_completed_step_up_can_be_ticked(inspect, header):
    pasted_header = header(requires_step_up=True)
    assert read_states(inspect(pasted_header))["step-up"] == "failed"
    assert read_states(inspect(pasted_header, step_up="on"))["step-up"] == "passed"


def test_the_form_is_protected_against_forgery(address, db):
    operator = get_user_model().objects.create_superuser("checked")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(operator)
    assert strict.post(f"{address}/checks", FORM).status_code == 403


def test_an_outsider_inspects_nothing(address, header, other_workspace, workspace):
    stranger = get_user_model().objects.create_user("stranger")
    stranger.memberships.create(workspace=other_workspace.workspace, role="editor")
    client = Client()
    client.force_login(stranger)
    assert client.post(f"{address}/checks", {**FORM, "header": header()}).status_code == 404
    assert client.get(address).status_code == 404
    key_client = Client(headers={"x-service-api-key": workspace.full_key})
    assert key_client.post(f"{address}/checks", FORM).status_code == 302


def test_opening_the_address_that_the_form_posts_to_leads_to_the_form(browser_client, address):
    response = browser_client.get(f"{address}/checks")
    assert (response.status_code, response["Location"]) == (302, address)
