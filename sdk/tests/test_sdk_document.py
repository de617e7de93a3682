"""Run every Python snippet of docs/sdk.md as a reader would, in the file that its first line names."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.scripted_hub import ScriptedHub, answer
from support.signed_calls import AUDIENCE, SECRET, WORKSPACE
from support.witness_hub import accept_all, read_entries

from affidavit import make_key

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.findall(r"^```python\n# (\S+)\n(.*?)^```$", (ROOT / "docs/sdk.md").read_text(), re.MULTILINE | re.DOTALL)

DJANGO = """
import json, os, sys
sys.argv = ["manage.py"]
import django
from django.conf import settings
from shop import settings as snippet
settings.configure(
    ROOT_URLCONF="__main__", INSTALLED_APPS=["shop"], ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite", "ATOMIC_REQUESTS": True}},
    **{name: getattr(snippet, name) for name in dir(snippet) if name.isupper()},
)
if "in-database" in os.environ.get("VARIANT", ""):
    settings.AFFIDAVIT_PROTECTION = "shop.intents_in_database.protection"
django.setup()
from django.core.management import call_command
from django.db import connection
from django.http import JsonResponse
from django.test import Client
from django.urls import path
from shop import views
from support.signed_calls import encode_json, sign_call

call_command("migrate", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE IF NOT EXISTS sold (id INTEGER)")

def sell(request):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO sold VALUES (1)")
    if "fail" in request.intent.args:
        raise RuntimeError("on purpose")
    return JsonResponse({})

urlpatterns = [
    path("orders", views.place_order), path("refunds", views.refund), path("rpc", views.cancel),
    path("health", views.health), path("sell", sell),
]
client = Client(raise_request_exception=False)

def post(where, operation, args, **options):
    header = sign_call(operation, args, **options)
    return client.post(where, encode_json(args), content_type="application/json", headers={"x-service-intent": header})

assert post("/orders", "POST /orders", {"books": 2}).json() == {"for": "user-1", "books": 2}
for _ in range(2):
    assert post("/refunds", "POST /refunds", {"orderId": 7}, tool_call_id="r").json() == {"refunded": 7}
assert post("/rpc", "orders.cancel", {"orderId": 7}).json() == {"cancelled": 7}
assert client.get("/health").json() == {"ok": True}
assert client.post("/orders").status_code == 403

same = dict(tool_call_id="s", nonce="n")
statuses = [post("/sell", "POST /sell", {"fail": 1}, **same).status_code for _ in range(2)]
statuses += [post("/sell", "POST /sell", {}, tool_call_id="t").status_code for _ in range(2)]
assert statuses == [500, 403, 200, 200], statuses
with connection.cursor() as cursor:
    assert cursor.execute("SELECT count(*) FROM sold").fetchone() == (1,)
"""
FLASK = """
from flask_shop import app
from support.signed_calls import sign_call
client = app.test_client()
headers = {"X-Service-Intent": sign_call("POST /refunds", {"orderId": 7})}
assert client.post("/refunds", json={"orderId": 7}, headers=headers).json == {"for": "user-1", "refunded": 7}
assert client.post("/refunds", json={"orderId": 7}).status_code == 403
assert client.get("/health").json == {"ok": True}
"""
STARLETTE = """
import asyncio
from support.asgi_calls import exchange
from support.signed_calls import encode_json, sign_call
from starlette_shop import app
async def main():
    args = {"orderId": 7}
    headers = [("content-type", "application/json")]
    assert (await exchange(app, "POST", "/refunds", headers, [encode_json(args)])).status == 403
    headers.append(("x-service-intent", sign_call("POST /refunds", args)))
    response = await exchange(app, "POST", "/refunds", headers, [encode_json(args)])
    assert response.json == {"for": "user-1", "refunded": 7}
asyncio.run(main())
"""
FASTAPI = STARLETTE.replace("starlette_shop", "fastapi_shop")
AIOHTTP = """
import asyncio
from aiohttp.test_utils import TestClient, TestServer
from aiohttp_shop import app
from support.signed_calls import sign_call
async def main():
    async with TestClient(TestServer(app)) as client:
        args = {"orderId": 7}
        assert (await client.post("/refunds", json=args)).status == 403
        headers = {"X-Service-Intent": sign_call("POST /refunds", args)}
        response = await client.post("/refunds", json=args, headers=headers)
        assert await response.json() == {"for": "user-1", "refunded": 7}
asyncio.run(main())
"""
OWN = """
from own_adapter import handle
from support.signed_calls import encode_json, sign_call
def call(header):
    work = lambda intent: b"%d" % intent.args["a"]
    return handle(header, "POST", "/x", "", encode_json({"a": 1}), "application/json", work)
headers = {"tool_call_id": "c"}
assert call(sign_call("POST /x", {"a": 1}, **headers))[::2] == (200, b"1")
status, replayed, body = call(sign_call("POST /x", {"a": 1}, **headers))
assert (status, dict(replayed)["Idempotent-Replayed"], body) == (200, "true", b"1")
assert call(None)[0] == 403
"""
WITNESSED = """
from support.signed_calls import sign_call
from shop.witness import witness
if framework == "django":
    import sys
    sys.argv = ["manage.py"]
    import django
    from django.conf import settings
    from shop import witnessed_settings as snippet
    settings.configure(
        ROOT_URLCONF="__main__", ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50, DATABASES={},
        **{name: getattr(snippet, name) for name in dir(snippet) if name.isupper()},
    )
    django.setup()
    from django.test import Client
    from django.urls import path
    from shop import views
    from affidavit.contrib.django import intent_exempt
    urlpatterns = [path("shops/<int:pk>/health", intent_exempt(lambda request, pk: views.health(request)))]
    for number in range(3):
        assert Client().get(f"/shops/{number}/health").json() == {"ok": True}
if framework == "flask":
    from flask_witnessed import app
    for _ in range(3):
        assert app.test_client().get("/health").json == {"ok": True}
if framework == "starlette":
    import asyncio
    from support.asgi_calls import exchange
    from starlette_witnessed import app
    for _ in range(3):
        assert asyncio.run(exchange(app, "POST", "/refunds")).status == 403
if framework == "own":
    import own_witness
assert witness.flush()
"""
TESTS = "import test_refunds; test_refunds.test_refund()"
STORES = """
from sqlite_stores import deliveries, nonces
assert [nonces.burn("w", "n", 2.0, now=1.0) for _ in range(2)] == [True, False]
assert type(deliveries.claim("w", "c", "f" * 64, now=1.0)).__name__ == "Claim"
from importlib.util import find_spec
if find_spec("psycopg"):
    import sql_stores
"""


@pytest.fixture
def run(tmp_path):
    """Write the snippets to their files. Return a function that runs a script next to them and returns its output."""
    for name, text in PYTHON:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "shop/__init__.py").touch()
    (tmp_path / "shop/migrations/__init__.py").touch()

    def script(text, **environment):
        variables = {
            "AFFIDAVIT_SIGNING_SECRET": SECRET, "AFFIDAVIT_WORKSPACE": WORKSPACE, "AFFIDAVIT_AUDIENCE": AUDIENCE,
            "AFFIDAVIT_API_KEY": make_key("gak_"), "AFFIDAVIT_HUB": "http://127.0.0.1:9", **environment,
        }  # fmt: skip
        paths = os.pathsep.join([str(tmp_path), str(ROOT / "sdk/tests"), str(ROOT / "sdk/src")])
        result = subprocess.run(
            [sys.executable, "-c", text], cwd=tmp_path, env={**os.environ, **variables, "PYTHONPATH": paths},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return result.stdout

    return script


def require_framework(name):
    """Skip a test whose snippet needs a framework that is not installed."""
    if name in {"aiohttp", "django", "fastapi", "flask", "starlette"}:
        pytest.importorskip(name, reason=f"needs {name.capitalize()}")


TESTED_FILES = {
    "shop/intents.py", "shop/settings.py", "shop/views.py", "shop/intents_in_database.py",
    "shop/migrations/0001_intents.py", "flask_shop.py", "starlette_shop.py", "fastapi_shop.py", "aiohttp_shop.py",
    "shop/outcomes.py", "test_refunds.py", "sql_stores.py", "sqlite_stores.py", "own_adapter.py", "outcomes.py",
    "shapes.py", "shop/witness.py", "shop/witnessed_settings.py", "flask_witnessed.py", "starlette_witnessed.py",
    "own_witness.py",
}  # fmt: skip


def test_every_python_snippet_names_its_file_and_is_run_below():
    blocks = (ROOT / "docs/sdk.md").read_text().count("```python")
    assert len(PYTHON) == blocks
    assert {name for name, _ in PYTHON} == TESTED_FILES


@pytest.mark.parametrize("variant", ["in memory", "in-database"])
def test_the_django_shop_works_with_both_kinds_of_stores_under_atomic_requests(run, variant):
    require_framework("django")
    with ScriptedHub(answer(200, {"recorded": 1})) as hub:
        run(DJANGO, VARIANT=variant, AFFIDAVIT_HUB=hub.url)
        if variant == "in memory":
            items = [item for received in hub.received for item in received.json["verifications"]]
            assert {item["operation"] for item in items} == {
                "POST /orders", "POST /refunds", "orders.cancel", "POST /sell"
            }  # fmt: skip


@pytest.mark.parametrize("framework", ["flask", "starlette", "fastapi", "aiohttp", "own", "stores", "tests"])
def test_the_snippets_of_each_framework_run(run, framework):
    require_framework("flask" if framework == "tests" else framework)
    script = {
        "flask": FLASK,
        "starlette": STARLETTE,
        "fastapi": FASTAPI,
        "aiohttp": AIOHTTP,
        "own": OWN,
        "stores": STORES,
        "tests": TESTS,
    }[framework]
    with ScriptedHub(answer(200, {"recorded": 1})) as hub:
        run(script, AFFIDAVIT_HUB=hub.url)


def test_outcomes_and_shapes_are_sent(run):
    with ScriptedHub(answer(200, {"recorded": 1, "unknownConversations": ["c-1843"]})) as hub:
        assert run("import outcomes", AFFIDAVIT_HUB=hub.url) == "1 ('c-1843',)\n"
        assert hub.received[0].json["environment"] == "staging"
    with ScriptedHub(answer(200, {"recorded": 1, "unknownConversations": []})) as hub:
        run("from shop.outcomes import complete_order; complete_order({'conversationId': 'c'})", AFFIDAVIT_HUB=hub.url)
        assert hub.received[0].json["outcomes"] == [{"conversationId": "c", "outcomeKey": "purchase"}]
    with ScriptedHub(answer(202, {"accepted": 1, "reportId": "x"})) as hub:
        run("import shapes", AFFIDAVIT_HUB=hub.url)
        assert hub.received[0].json["observations"][0]["path"] == "/orders/{orderId}"


@pytest.mark.parametrize(("framework", "seen"), [
    ("django", ("GET", "/shops/{pk}/health", 200, 3)), ("flask", ("GET", "/health", 200, 3)),
    ("starlette", ("POST", "/refunds", 403, 3)), ("own", ("GET", "/orders/{orderId}", 200, 1)),
])  # fmt: skip
def test_the_witness_sees_the_shop(run, framework, seen):
    require_framework(framework)
    with ScriptedHub(accept_all) as hub:
        run(f"framework = {framework!r}\n{WITNESSED}", AFFIDAVIT_HUB=hub.url)
        (entry,) = read_entries(hub.received)
    assert (entry["method"], entry["path"], entry["status"], entry["count"]) == seen
    assert "properties" in entry["response"]
