"""The empty page of rejections offers a call and lines of Python that work."""

from __future__ import annotations

from django.utils import timezone
from django.utils.html import escape

from affidavit import args_hash
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call


def test_an_empty_page_shows_the_call_that_fills_it(page, workspace):
    text = page().content.decode()
    assert "No verifications yet" in text
    assert "/api/verification-reports" in text
    assert workspace.report_key[:12] in text
    assert workspace.full_key not in text


def test_the_call_on_the_empty_page_is_accepted(page, api):
    body = page().context["first_report"]
    assert api.post("/api/verification-reports", body.encode()).json() == {"recorded": 42}
    assert "No verifications yet" not in page().content.decode()


def test_the_code_on_the_empty_page_makes_a_protection_that_accepts_a_minted_intent(
    page, workspace, production, monkeypatch
):
    monkeypatch.setenv("AFFIDAVIT_SIGNING_SECRET", workspace.signing_secret)
    names = {"API_KEY": workspace.full_key, "BASE_URL": "http://localhost"}
    lines = page().context["first_lines"]
    assert escape(lines) in page().content.decode()
    exec(lines, names)  # the lines that a reader of the page would paste
    call = Call(sub="user_1", operation="GET /orders", args_hash=args_hash({}))
    header = mint_for_call(production, call, now=timezone.now()).header
    verifier = names["protection"].verifier
    assert verifier.verify(header, method="GET", path="/orders").sub == "user_1"
