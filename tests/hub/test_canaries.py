"""Canaries are planted in recorded traffic wherever a value can be. None of them reaches any data of the hub."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import pytest
from support.scripted_hub import ReceivedRequest, ScriptedHub, answer

from tests.hub.test_traffic_through_a_running_hub import create, everything, wait_until_folded

pytestmark = [pytest.mark.xdist_group("whole hub"), pytest.mark.timeout(600)]
FILES = ("linode.har.gz", "datadog.har.gz")
KEY = "gak_" + "0" * 64
# A canary is a plain word with a number, so that it could be a name. The tests look for it in upper and lower case.
CANARY = re.compile(r"canary[-_]?\d{4,}", re.IGNORECASE)


@dataclass(frozen=True)
class Delivery:
    """The requests that the command line sent to a hub, and its output."""

    file: Path
    requests: list[ReceivedRequest]
    printed: str


def plant_canary(entry: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the entry with a canary in its headers, query, path and both bodies, in values and in names."""
    word = f"canary{number:05d}"
    for message in (entry["request"], entry["response"]):
        message["headers"] = [
            *message["headers"],
            {"name": "Authorization", "value": f"Bearer {word}"},
            {"name": f"X-{word}", "value": word},
        ]
    entry["request"]["cookies"] = [{"name": word, "value": word}]
    entry["request"]["url"] = with_canaries(entry["request"]["url"], entry.get("_template"), word)
    if text := entry["request"].get("postData", {}).get("text"):
        entry["request"]["postData"]["text"] = in_body(text, word)
    if text := entry["response"]["content"].get("text"):
        entry["response"]["content"]["text"] = in_body(text, word)
    return entry


def with_canaries(url: str, template: str | None, word: str) -> str:
    """Return the URL with a canary in each path parameter, and in the query as a value and within a name."""
    parts = urlsplit(url)
    pairs = zip(parts.path.split("/"), (template or parts.path).split("/"), strict=True)
    path = "/".join(f"{word}-{n}" if true.startswith("{") else raw for n, (raw, true) in enumerate(pairs))
    query = "&".join(filter(None, [parts.query, urlencode({"note": word, f"{word}@corp.example": "1"})]))
    return urlunsplit(parts._replace(path=path, query=query))


def in_body(text: str, word: str) -> str:
    """Return the body with a canary in place of each string.

    Each object also gets a property with a canary as its value, and a map with canaries as its keys.
    """
    return json.dumps(in_value(json.loads(text), word))


def in_value(value: Any, word: str) -> Any:
    match value:
        case dict():
            inner = {name: in_value(inner_value, word) for name, inner_value in value.items()}
            return {**inner, "note": word, "owners": {f"{word}@corp.example": 1, f"{word}-9f8e7d6c-3b2a1f0e": word}}
        case list():
            return [in_value(inner_value, word) for inner_value in value]
        case str():
            return word
    return value


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = Path(__file__).resolve().parents[3] / "shared" / "traffic"
    if not folder.is_dir():
        pytest.skip("the recorded traffic is not here")
    target = tmp_path_factory.mktemp("canaries")
    return [plant(folder / name, target / name) for name in FILES]


def plant(source: Path, target: Path) -> Path:
    with gzip.open(source) as text:
        document = json.load(text)
    entries = document["log"]["entries"]
    document["log"]["entries"] = [plant_canary(entry, number) for number, entry in enumerate(entries)]
    with gzip.open(target, "wt", compresslevel=1) as text:
        json.dump(document, text)
    return target


@pytest.fixture(scope="module")
def deliveries(recordings: list[Path]) -> list[Delivery]:
    """Send each recording with the command line; return the requests and the output."""
    return [deliver(file) for file in recordings]


def deliver(file: Path) -> Delivery:
    with ScriptedHub(answer(202, {"accepted": 1})) as hub:
        command = [sys.executable, "-m", "affidavit", "har", str(file), "--hub", hub.url, "--key", KEY]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    return Delivery(file, hub.received, result.stdout)


def test_no_canary_goes_over_the_wire_or_is_printed(deliveries):
    for delivery in deliveries:
        requests = [f"{request.path} {dict(request.headers)} {request.body.decode()}" for request in delivery.requests]
        assert requests
        assert find_canaries(delivery.printed + "".join(requests)) == []


def test_no_canary_is_in_database_logs_or_downloads(hub, deliveries):
    for delivery in deliveries:
        workspace = create(hub, delivery.file.name)
        for request in delivery.requests:
            assert hub.request(request.path, request.json, key=workspace["secretKey"])[0] == 202
        wait_until_folded(hub)
        texts = everything(hub, workspace)
        for download in ("openapi.json", "schemas.json", "tools.json", "mcp.json"):
            texts += json.dumps(hub.request(f"/api/catalog/{download}", key=workspace["secretKey"])[1])
        assert '"owners"' in texts
        assert find_canaries(texts) == []


def find_canaries(text: str) -> list[str]:
    return sorted(set(CANARY.findall(text)))[:20]
