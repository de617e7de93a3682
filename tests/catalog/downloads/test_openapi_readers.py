"""Linters and code generators accept the OpenAPI download of the bookshop; generated clients can call the shop."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from wsgiref.simple_server import make_server

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from examples.bookshop import people
from examples.bookshop.__main__ import SilentHandler, ThreadingServer
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import INTENT, Assistant, ToolCall
from examples.bookshop.calls import Answer, over_http
from examples.bookshop.habits import Habits
from tests.catalog.reports import deliver
from tests.examples.test_bookshop import KEY, STAGING, SUB, World

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]
CONVERSATIONS = 60
REDOCLY = "@redocly/cli@2.77.0"
NPX_SETTINGS = {
    "npm_config_fetch_retries": "0", "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
}  # fmt: skip
TIMES = ("firstSeenAt", "lastSeenAt")  # `download` drops these, because the shop's clock is ahead of the hub's


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a shop after a witness has observed its traffic."""
    world = World(str(tmp_path_factory.mktemp("shop") / "shop.db"))
    staging = Assistant(STAGING, world.hub.call, world.call, key=KEY, now=lambda: world.time, chance=Random(2))
    agenda = Agenda(lambda: world.time)
    for n in range(CONVERSATIONS):
        agenda.add(people.run_conversation(world.assistant, staging, Habits()), due_at=world.time + 30 * n)
    while len(agenda):
        world.time = max(world.time, agenda.next_at)
        agenda.run_next()
    assert world.witness.flush()
    return world


@pytest.fixture
def download(api: Any, workspace: Any, world: World, tmp_path: Path) -> Path:
    """Return the path of the downloaded catalog of the shop."""
    reports = [report for _, report in world.hub.reports if "observations" in report]
    observations = [observation for report in reports for observation in report["observations"]]
    timeless = [
        {name: value for name, value in observation.items() if name not in TIMES} for observation in observations
    ]
    deliver(api, workspace, *timeless)
    file = tmp_path / "openapi.json"
    file.write_bytes(api.get("/api/catalog/openapi.json").getvalue())
    return file


@dataclass(frozen=True)
class ServedShop:
    world: World
    address: str

    def sign(self, call: ToolCall) -> dict[str, str]:
        return {INTENT: self.world.assistant.mint(call)}

    def send(self, call: ToolCall) -> Answer:
        return over_http(self.address)(call.method, call.target, call.body, self.sign(call))


@pytest.fixture
def shop(world: World) -> Iterator[ServedShop]:
    server = make_server("127.0.0.1", 0, world.shop, server_class=ThreadingServer, handler_class=SilentHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield ServedShop(world, f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    thread.join()
    server.server_close()


def generate(*arguments: object) -> None:
    """Run a generator, which is a Python module. It must leave out no part of the download."""
    result = subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, timeout=200)
    output = result.stdout + result.stderr
    assert (result.returncode, "Unable" in output, "Skipping" in output) == (0, False, False), output


def test_the_download_is_valid_with_a_name_for_each_object(download):
    document = json.loads(download.read_bytes())
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    names = document["components"]["schemas"].keys()
    assert names >= {
        "Account",
        "Book",
        "BooksItem",
        "BooksPage",
        "Cart",
        "CartLine",
        "CartLineRequest",
        "Error",
        "Order",
    }
    assert [name for name in names if any(letter.isdigit() for letter in name)] == []


def test_a_generated_client_calls_the_shop(download, shop, tmp_path, monkeypatch):
    config = tmp_path / "config.json"
    config.write_text('{"post_hooks": []}')
    generate(
        "openapi_python_client", "generate", "--path", download, "--config", config, "--meta", "none",
        "--output-path", tmp_path / "shop_client", "--fail-on-warning",
    )  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    models = import_module("shop_client.models")

    def call(module: str, tool_call: ToolCall, **arguments: Any) -> Any:
        client = import_module("shop_client").Client(base_url=shop.address, headers=shop.sign(tool_call))
        return import_module(f"shop_client.api.{module}").sync_detailed(client=client, **arguments)

    books = call("books.get_books", ToolCall(SUB, "GET", "/books", {"q": "war"}), q="war")
    assert (books.status_code, books.parsed.books[0].price.currency) == (200, "EUR")
    line = models.CartLineRequest(book_id=101, quantity=2, conversation_id="conv_1")
    cart = call("cart.post_cart_lines", ToolCall(SUB, "POST", "/cart/lines", body=line.to_dict()), body=line)
    assert (cart.status_code, type(cart.parsed)) == (201, models.Cart)
    address = models.OrderShipTo(name="Ada", street="Station Road 7", city="Porto")
    request = models.OrderRequest(ship_to=address, conversation_id="conv_1")
    placed = call("orders.post_orders", ToolCall(SUB, "POST", "/orders", body=request.to_dict()), body=request)
    assert (placed.status_code, placed.parsed.ship_to) == (201, address)
    path = f"/orders/{placed.parsed.id}"
    assert (
        call("orders.get_orders_by_order_id", ToolCall(SUB, "GET", path), order_id=placed.parsed.id).parsed
        == placed.parsed
    )
    refused = call("orders.get_orders", ToolCall(SUB, "GET", "/cart"))
    assert (refused.status_code, refused.parsed.reason) == (403, "operation-mismatch")


def test_generated_models_accept_the_answers_of_the_shop(download, shop, tmp_path, monkeypatch):
    generate(
        "datamodel_code_generator", "--input", download, "--input-file-type", "openapi",
        "--output-model-type", "pydantic_v2.BaseModel", "--output", tmp_path / "shop_models.py",
    )  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    models = import_module("shop_models")
    line = models.CartLineRequest(bookId=101, quantity=1, conversationId="conv_1").model_dump(exclude_none=True)
    answers = {
        "Cart": shop.send(ToolCall(SUB, "POST", "/cart/lines", body=line)),
        "BooksPage": shop.send(ToolCall(SUB, "GET", "/books", {"q": "war"})),
        "Book": shop.send(ToolCall(SUB, "GET", "/books/101")),
        "OrdersPage": shop.send(ToolCall(SUB, "GET", "/orders")),
        "Account": shop.send(ToolCall(SUB, "GET", "/account")),
    }
    for name, answer in answers.items():
        assert answer.status < 300
        model = getattr(models, name).model_validate(answer.json)
        assert model.model_dump(exclude_unset=True, by_alias=True) == answer.json


def test_redocly_finds_no_error(download, tmp_path):
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("npx is not installed")
    command = [npx, "--yes", REDOCLY, "lint", "--extends", "recommended", "--format", "json", str(download)]
    try:
        result = subprocess.run(
            command, cwd=tmp_path, env=os.environ | NPX_SETTINGS, capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npx did not run {REDOCLY} in time")
    if not result.stdout.strip():
        pytest.skip(f"npx could not run {REDOCLY}: {result.stderr[-300:]}")
    report = json.loads(result.stdout)
    assert [problem for problem in report["problems"] if problem["severity"] == "error"] == []
    assert report["totals"]["errors"] == 0
