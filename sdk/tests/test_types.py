"""A customer's type checker sees that decorated views keep their types."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="needs mypy")

SNIPPET = """
from affidavit.contrib import aiohttp, asgi, wsgi

@wsgi.intent_required
def plain(order_id: int) -> str: ...

@wsgi.intent_required(minimum_version=2)
def demanding(order_id: int) -> str: ...

@asgi.intent_required
async def awaited(order_id: int) -> str: ...

@aiohttp.intent_required(operation="orders.cancel")
async def cancel(order_id: int) -> str: ...

reveal_type(plain)
reveal_type(demanding)
reveal_type(awaited)
reveal_type(cancel)
plain("17")
wsgi.intent_required(minimum="2")
"""
USES = """
from aiohttp import web
from django.http import HttpResponse

from affidavit import Protection, Witness
from affidavit.contrib.aiohttp import current_intent, intent_middleware, witness_middleware
from affidavit.contrib.django import VerifiedRequest, intent_required

def build_app(protection: Protection, witness: Witness) -> web.Application:
    return web.Application(middlewares=[witness_middleware(witness), intent_middleware(protection, everything=False)])

async def refund(request: web.Request) -> web.Response:
    return web.json_response({"refunded": current_intent().args["orderId"]})

@intent_required(minimum_version=2)
def cancel(request: VerifiedRequest) -> HttpResponse:
    return HttpResponse(request.intent.args["orders"][0])

def freeze(protection: Protection) -> None:
    if protection.reports is not None:
        protection.reports.flush(3)
"""
SYNC = "def (order_id: int) -> str"
ASYNC = "def (order_id: int) -> typing.Coroutine[Any, Any, str]"


def run_mypy(folder: Path, text: str) -> list[str]:
    """Return what strict mypy says of a module of a customer."""
    source = folder / "views.py"
    source.write_text(text)
    package = Path(__file__).resolve().parents[1] / "src"
    options = ["--strict", "--no-error-summary", "--follow-imports=silent", "--disable-error-code=empty-body"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", os.devnull, str(source)],
        capture_output=True, text=True, cwd=folder, env={**os.environ, "MYPYPATH": str(package)}, timeout=240,
    )  # fmt: skip
    assert not result.stderr
    return [line.partition("views.py:")[2] for line in result.stdout.splitlines()]


def test_a_decorated_view_keeps_its_type(tmp_path):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    lines = run_mypy(tmp_path, SNIPPET)
    revealed = [line.partition('"')[2].rpartition('"')[0] for line in lines if "Revealed type" in line]
    assert [text.replace("builtins.", "") for text in revealed] == [SYNC, SYNC, ASYNC, ASYNC]
    errors = [line for line in lines if "error:" in line]
    assert [error.partition(":")[0] for error in errors] == ["20", "21"], lines
    assert "incompatible type" in errors[0]


def test_what_the_pages_show_has_no_type_error(tmp_path):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    pytest.importorskip("django", reason="needs Django")
    assert run_mypy(tmp_path, USES) == []
