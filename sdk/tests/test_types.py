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
SYNC = "def (order_id: int) -> str"
ASYNC = "def (order_id: int) -> typing.Coroutine[Any, Any, str]"


def test_a_decorated_view_keeps_its_type(tmp_path):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    source = tmp_path / "views.py"
    source.write_text(SNIPPET)
    package = Path(__file__).resolve().parents[1] / "src"
    options = ["--strict", "--no-error-summary", "--follow-imports=silent", "--disable-error-code=empty-body"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", os.devnull, str(source)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(package)}, timeout=240,
    )  # fmt: skip
    lines = [line.partition("views.py:")[2] for line in result.stdout.splitlines()]
    revealed = [line.partition('"')[2].rpartition('"')[0] for line in lines if "Revealed type" in line]
    assert [text.replace("builtins.", "") for text in revealed] == [SYNC, SYNC, ASYNC, ASYNC]
    errors = [line for line in lines if "error:" in line]
    assert [error.partition(":")[0] for error in errors] == ["20", "21"], result.stdout + result.stderr
    assert "incompatible type" in errors[0]
