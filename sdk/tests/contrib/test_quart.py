"""Refused calls of an app of Quart, which logs any error but those of a client, and ends after the client only."""

import asyncio
import logging
import sys
from types import ModuleType

import pytest
from support.asgi_calls import exchange, in_loop
from support.signed_calls import make_protection, sign_call

from affidavit.contrib.asgi import IntentMiddleware, IntentRefused, intent_required

ARGS = {"isbn": "978"}
JSON = ("content-type", "application/json")


@pytest.mark.parametrize(
    ("framework", "module", "name"),
    [
        ("quart", "werkzeug.exceptions", "HTTPException"),
        ("falcon.asgi", "falcon", "HTTPError"),
        ("sanic", "sanic.exceptions", "SanicException"),
        ("blacksheep", "blacksheep.exceptions", "HTTPException"),
    ],
)
@in_loop
async def test_a_refusal_is_an_error_of_the_client_in_the_terms_of_the_framework(framework, module, name, monkeypatch):
    client_error = getattr(pytest.importorskip(module, reason=f"needs {module}"), name)
    for other in ("quart", "falcon.asgi", "sanic", "blacksheep"):
        monkeypatch.delitem(sys.modules, other, raising=False)
    monkeypatch.setitem(sys.modules, framework, ModuleType(framework))

    refusals = []

    async def app(scope, receive, send):
        try:
            await intent_required(asyncio.sleep)(0)
        except IntentRefused as refusal:
            refusals.append(refusal)

    response = await exchange(IntentMiddleware(app, make_protection(), everything=False), "POST", "/orders")
    assert response.status == 403
    assert isinstance(refusals[0], client_error)


@in_loop
async def test_a_refused_call_is_answered_and_logs_nothing(caplog):
    quart = pytest.importorskip("quart", reason="needs Quart")
    app = quart.Quart("shop")

    @app.post("/orders")
    @intent_required
    async def order():
        return {"body": await quart.request.get_json()}

    guarded = IntentMiddleware(app, make_protection(), everything=False)
    with caplog.at_level(logging.INFO):
        refused = await exchange(guarded, "POST", "/orders", [JSON], [b"{}"])
    assert (refused.status, refused.json["reason"], caplog.records) == (403, "missing-header", [])
    headers = [JSON, ("x-service-intent", sign_call("POST /orders", ARGS))]
    answer = await exchange(guarded, "POST", "/orders", headers, [b'{"isbn": "978"}'])
    assert (answer.status, answer.json) == (200, {"body": ARGS})
