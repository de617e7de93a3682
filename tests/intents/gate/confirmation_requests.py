"""Request and decide a confirmation, for the tests."""

from __future__ import annotations

ADDRESS = "/api/confirmations"
QUESTION = {"sub": "user_17", "operation": "POST /refunds", "args": {"amount": 1250}, "summary": "Refund 12.50"}


def request_confirmation(api, **members) -> dict:
    response = api.post(ADDRESS, {**QUESTION, **members})
    assert response.status_code == 201, response.content
    return response.json()


def decide(api, confirmation_id, decision="confirm", **options):
    return api.post(f"{ADDRESS}/{confirmation_id}/decision", {"decision": decision}, **options)
