"""Recorded traffic of two public APIs, poured into a running hub by the command line: all arrives, once, and no value.

What an operation is called is step by step the templates' business; here every entry is recounted from the file.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from hub import embedded
from tests.hub.running import Hub, running_hub

pytestmark = [pytest.mark.xdist_group("whole hub"), pytest.mark.timeout(600)]
FILES = ("linode.har.gz", "datadog.har.gz")
NEVER_BEGINS = {404, 405, 501}
SHORTEST = 6


@pytest.fixture(scope="module")
def traffic() -> Path:
    folder = Path(__file__).resolve().parents[3] / "shared" / "traffic"
    if not folder.is_dir():
        pytest.skip("the recorded traffic is not here")
    return folder


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("traffic")) as hub:
        hub.start()
        yield hub


@pytest.fixture(scope="module")
def empty_texts(hub: Hub) -> str:
    """What an empty hub holds and shows of itself."""
    workspace = create(hub, "Empty")
    return everything(hub, workspace)


@pytest.fixture(scope="module")
def poured(hub: Hub, traffic: Path, empty_texts: str) -> dict[str, dict[str, Any]]:
    """Each file in an environment of its own workspace, folded."""
    workspaces = {}
    for name in FILES:
        workspace = create(hub, name.partition(".")[0])
        done = hub.affidavit("har", str(traffic / name), "--hub", hub.address, key=workspace["secretKey"])
        assert done.returncode == 0, done.stderr
        wait_until_folded(hub)
        workspaces[name] = workspace
    return workspaces


def create(hub: Hub, name: str) -> dict[str, Any]:
    return json.loads(hub.manage("create_workspace", name, "--json").stdout)


def wait_until_folded(hub: Hub) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if hub.request("/readyz")[1]["checks"]["fold"]["oldestUnfoldedSeconds"] is None:
            return
        time.sleep(0.2)
    raise AssertionError("the reports were not folded in time")


def entries(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file) as text:
        return json.load(text)["log"]["entries"]


def page(hub: Hub, workspace: dict[str, Any], name: str) -> Any:
    address = f"/w/{workspace['slug']}/production/{name}"
    status, body, _ = hub.request(address, key=workspace["secretKey"])
    assert status == 200
    return body


def catalog(hub: Hub, workspace: dict[str, Any]) -> dict[str, Any]:
    return hub.request("/api/catalog", key=workspace["secretKey"])[1]


@pytest.mark.parametrize("name", FILES)
def test_every_2xx_entry_ends_in_the_catalog(hub, traffic, poured, name):
    recorded = [entry for entry in entries(traffic / name) if 200 <= entry["response"]["status"] < 300]
    patterns = {}
    for operation in catalog(hub, poured[name])["operations"]:
        pattern = re.sub(r"\\\{[^/]*?\\\}", "[^/]+", re.escape(operation["path"]))
        patterns.setdefault(operation["method"], []).append((re.compile(pattern), operation["responses"]))
    missing = [
        entry["request"]["url"]
        for entry in recorded
        if not any(
            pattern.fullmatch(urlsplit(entry["request"]["url"]).path) and str(entry["response"]["status"]) in responses
            for pattern, responses in patterns.get(entry["request"]["method"], [])
        )
    ]
    assert missing == []


@pytest.mark.parametrize("name", FILES)
def test_catalog_page_and_csv_agree_with_a_recount_of_the_file(hub, traffic, poured, name):
    operations = catalog(hub, poured[name])["operations"]
    counted = {(row["method"], row["path"]): row["observations"] for row in operations}
    shown = page(hub, poured[name], "catalog.json")["tables"]["operations"]
    exported = list(csv.DictReader(io.StringIO(page(hub, poured[name], "catalog.csv?table=operations"))))
    assert {(row["method"], row["path"]): row["observations"] for row in shown} == counted
    assert {(row["method"], row["path"]): int(row["observations"]) for row in exported} == counted

    statuses = [entry["response"]["status"] for entry in entries(traffic / name)]
    all_entries, may_be_hidden = len(statuses), sum(status in NEVER_BEGINS for status in statuses)
    assert all_entries - may_be_hidden <= sum(counted.values()) <= all_entries


@pytest.mark.parametrize("name", FILES)
def test_bodies_seen_per_status_agree_with_a_recount(hub, traffic, poured, name):
    seen: dict[str, int] = {}
    for operation in catalog(hub, poured[name])["operations"]:
        for status, descriptor in operation["responses"].items():
            seen[status] = seen.get(status, 0) + descriptor.get("seen", 0)
    recount: dict[str, int] = {}
    for entry in entries(traffic / name):
        status = str(entry["response"]["status"])
        if status[0] == "2" and status != "204" and entry["response"]["content"].get("text"):
            recount[status] = recount.get(status, 0) + 1
    assert {status: count for status, count in seen.items() if status[0] == "2" and count} == recount


@pytest.mark.parametrize("name", FILES)
def test_sending_the_same_file_again_changes_nothing(hub, traffic, poured, name):
    before = catalog(hub, poured[name])
    done = hub.affidavit("har", str(traffic / name), "--hub", hub.address, key=poured[name]["secretKey"])
    assert done.returncode == 0, done.stderr
    wait_until_folded(hub)
    assert catalog(hub, poured[name]) == before


def test_no_value_of_a_body_is_found_in_database_logs_or_downloads(hub, traffic, poured, empty_texts):
    texts = "".join(everything(hub, workspace) for workspace in poured.values())
    names, values, paths = set(), set(), set()
    for file in FILES:
        for entry in entries(traffic / file):
            names |= set(parse_qs(urlsplit(entry["request"]["url"]).query, keep_blank_values=True))
            paths |= {urlsplit(entry["request"]["url"]).path, unquote(urlsplit(entry["request"]["url"]).path)}
            for body in (
                entry["request"].get("postData", {}).get("text"),
                entry["response"]["content"].get("text"),
            ):
                collect(json.loads(body) if body else None, names, values)
    sought = {value for value in values - names if len(value) >= SHORTEST}
    # What stands in a path is the learner's business, and a word of a path or a name is a word of the catalog.
    parameters = {name for workspace in poured.values() for name in parameter_names(hub, workspace)}
    sought -= found_in("\n".join([empty_texts, *paths, *names, *parameters]), sought)
    assert len(sought) > 10_000
    assert sorted(found_in(texts, sought)) == []


def parameter_names(hub: Hub, workspace: dict[str, Any]) -> set[str]:
    return {name for operation in catalog(hub, workspace)["operations"] for name in operation["parameters"]}


def found_in(text: str, sought: set[str]) -> set[str]:
    """Which of the sought stand anywhere in the text; one pass over it by their first characters."""
    by_start: dict[str, list[str]] = {}
    for value in sought:
        by_start.setdefault(value[:SHORTEST], []).append(value)
    found: set[str] = set()
    for at in range(len(text) - SHORTEST + 1):
        for value in by_start.get(text[at : at + SHORTEST], ()):
            if text.startswith(value, at):
                found.add(value)
    return found


def collect(value: Any, names: set[str], values: set[str]) -> None:
    if isinstance(value, dict):
        names |= set(value)
        for inner in value.values():
            collect(inner, names, values)
    elif isinstance(value, list):
        for inner in value:
            collect(inner, names, values)
    elif isinstance(value, str):
        values.add(value)


def everything(hub: Hub, workspace: dict[str, Any]) -> str:
    """All that could hold a value: a dump of the database, every log, every download."""
    server = embedded.Server(hub.folder / "var")
    connection = server.connection()
    dump = subprocess.run(
        [str(embedded.binaries() / "pg_dump"), "--inserts", "-h", str(server.sockets), "-U", "affidavit", "affidavit"],
        env={"PGPASSWORD": str(connection["PASSWORD"])}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    logs = hub.output + (hub.folder / "var" / "postgres.log").read_text()
    downloads = [json.dumps(catalog(hub, workspace), ensure_ascii=False)]
    for name in ("overview", "catalog", "outcomes", "joins", "rejections"):
        downloads += [
            json.dumps(page(hub, workspace, f"{name}.json"), ensure_ascii=False),
            page(hub, workspace, name),
        ]
    return dump.stdout + logs + "".join(downloads)
