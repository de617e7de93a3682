"""Recorded traffic of two public APIs is sent to a running hub. Every call is counted once, and no value arrives.

These tests count every entry of the files again. Other tests check how operations are named.
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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from catalog.browse.download_links import FORMAT_LINKS
from hub.local.postgresql.programs import find_binaries
from hub.local.postgresql.server import Server
from tests.hub.hub_process import Hub, running_hub

pytestmark = [pytest.mark.xdist_group("whole hub"), pytest.mark.timeout(600)]
FILES = ("linode.har.gz", "datadog.har.gz")
NEVER_BEGINS = {404, 405, 501}
SHORTEST = 6
# Digests of reports, keys and operations, fractions of seconds, and the hub's own times, which are of these days (the
# recordings are older). They may contain the digits of a value by chance.
THESE_DAYS = "|".join(f"(?<={datetime.now(UTC) + timedelta(days):%Y-%m-%d}[T ])" for days in (-1, 0, 1))
OWN_TIME = rf"(?:{THESE_DAYS})\d\d:\d\d:\d\d"
CHANCE_DIGITS = re.compile(rf"\\x[0-9a-f]{{64}}|(?<=:\d\d)\.\d{{3,6}}|{OWN_TIME}")


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
    """Return every text that an empty hub stores and shows."""
    workspace = create(hub, "Empty")
    return everything(hub, workspace)


@pytest.fixture(scope="module")
def careful_texts(hub: Hub, traffic: Path, empty_texts: str) -> tuple[str, set[str]]:
    """Send both files with undecided paths held back; return all texts of the hub, and the names of parameters."""
    workspaces = [pour(hub, traffic / name, f"careful {name}") for name in FILES]
    return everything(hub, *workspaces), {name for workspace in workspaces for name in parameter_names(hub, workspace)}


@pytest.fixture(scope="module")
def workspaces_by_file(hub: Hub, traffic: Path, careful_texts: str) -> dict[str, dict[str, Any]]:
    """Send each complete file to its own workspace, after `careful_texts` was read. Return the workspaces."""
    return {name: pour(hub, traffic / name, name, "--send-undecided") for name in FILES}


def pour(hub: Hub, file: Path, name: str, *options: str) -> dict[str, Any]:
    workspace = create(hub, name)
    result = hub.affidavit("har", str(file), "--hub", hub.address, *options, key=workspace["secretKey"])
    assert result.returncode == 0, result.stderr
    wait_until_folded(hub)
    return workspace


def create(hub: Hub, name: str) -> dict[str, Any]:
    return json.loads(hub.manage("create_workspace", name, "--full-key", "--json").stdout)


def wait_until_folded(hub: Hub) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if hub.request("/readyz")[1]["oldestUnfoldedSeconds"] is None:
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
def test_every_2xx_entry_is_in_the_catalog(hub, traffic, workspaces_by_file, name):
    recorded = [entry for entry in entries(traffic / name) if 200 <= entry["response"]["status"] < 300]
    patterns = {}
    for operation in catalog(hub, workspaces_by_file[name])["operations"]:
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
def test_catalog_page_and_csv_agree_with_a_recount_of_the_file(hub, traffic, workspaces_by_file, name):
    operations = catalog(hub, workspaces_by_file[name])["operations"]
    downloaded = {(row["method"], row["path"]): row["observations"] for row in operations}
    page_rows = page(hub, workspaces_by_file[name], "catalog.json")["tables"]["operations"]
    csv_rows = list(csv.DictReader(io.StringIO(page(hub, workspaces_by_file[name], "catalog.csv?table=operations"))))
    assert {(row["method"], row["path"]): row["observations"] for row in page_rows} == downloaded
    assert {(row["method"], row["path"]): int(row["observations"]) for row in csv_rows} == downloaded

    statuses = [entry["response"]["status"] for entry in entries(traffic / name)]
    all_entries, may_be_hidden = len(statuses), sum(status in NEVER_BEGINS for status in statuses)
    assert all_entries - may_be_hidden <= sum(downloaded.values()) <= all_entries


@pytest.mark.parametrize("name", FILES)
def test_bodies_seen_per_status_agree_with_a_recount(hub, traffic, workspaces_by_file, name):
    seen: dict[str, int] = {}
    for operation in catalog(hub, workspaces_by_file[name])["operations"]:
        for status, descriptor in operation["responses"].items():
            seen[status] = seen.get(status, 0) + descriptor.get("seen", 0)
    recount: dict[str, int] = {}
    for entry in entries(traffic / name):
        status = str(entry["response"]["status"])
        if status[0] == "2" and status != "204" and entry["response"]["content"].get("text"):
            recount[status] = recount.get(status, 0) + 1
    assert {status: count for status, count in seen.items() if status[0] == "2" and count} == recount


@pytest.mark.parametrize("name", FILES)
def test_sending_the_same_file_again_changes_nothing(hub, traffic, workspaces_by_file, name):
    before = catalog(hub, workspaces_by_file[name])
    again = ("har", str(traffic / name), "--hub", hub.address, "--send-undecided")
    result = hub.affidavit(*again, key=workspaces_by_file[name]["secretKey"])
    assert result.returncode == 0, result.stderr
    wait_until_folded(hub)
    assert catalog(hub, workspaces_by_file[name]) == before


def test_no_value_is_found_in_database_logs_or_downloads(traffic, careful_texts, empty_texts):
    texts, parameters = careful_texts
    names, values, literals = set(), set(), set()
    for file in FILES:
        for entry in entries(traffic / file):
            address = urlsplit(entry["request"]["url"])
            names |= set(parse_qs(address.query, keep_blank_values=True))
            data = data_segments(address.path, entry["_template"])
            values |= data
            literals |= {*unquote(address.path).split("/"), entry["request"]["method"]} - data
            for body in (entry["request"].get("postData", {}).get("text"), entry["response"]["content"].get("text")):
                collect(json.loads(body) if body else None, names, values)
    secret_values = {value for value in values - names if len(value) >= SHORTEST}
    # A value is no leak if it is also a literal of a path, a name, a type, or the name of a download.
    formats = [word for link in FORMAT_LINKS for word in link]
    secret_values -= find_in(
        "\n".join([empty_texts, "unknown", *formats, *literals, *names, *parameters]), secret_values
    )
    secret_values = {value for value in secret_values if not set(value.strip("/").split("/")) <= literals}
    assert len(secret_values) > 10_000
    assert sorted(find_in(CHANCE_DIGITS.sub("", texts), secret_values)) == []


# Operations of Linode that its documentation lacks. Their recorded true templates are wrong: they have an id in place
# of the last word.
UNDOCUMENTED = frozenset({
    "default-ranges", "ipv6s", "rulesets", "settings", "sharegroups", "templates", "vpc-availability",
})  # fmt: skip


def data_segments(path: str, template: str | None) -> set[str]:
    """Return the segments of a path that are parameters in its true template."""
    if template is None or path.rpartition("/")[2] in UNDOCUMENTED:
        return set()
    pairs = zip(path.split("/"), template.split("/"), strict=True)
    return {unquote(raw) for raw, true in pairs if true.startswith("{") and true.endswith("}")}


def parameter_names(hub: Hub, workspace: dict[str, Any]) -> set[str]:
    return {name for operation in catalog(hub, workspace)["operations"] for name in operation["parameters"]}


def find_in(text: str, values: set[str]) -> set[str]:
    """Return the values that occur in the text. The text is read once: the first characters of values are looked up.

    A value of digits counts only where it stands alone, because random ids and tokens contain such digits by chance.
    """
    by_start: dict[str, list[str]] = {}
    for value in values:
        by_start.setdefault(value[:SHORTEST], []).append(value)
    matches: set[str] = set()
    for position in range(len(text) - SHORTEST + 1):
        for value in by_start.get(text[position : position + SHORTEST], ()):
            if text.startswith(value, position) and not (value.isdigit() and is_in_word(text, position, len(value))):
                matches.add(value)
    return matches


def is_in_word(text: str, start: int, length: int) -> bool:
    """Return whether a letter or a digit stands directly before or after a part of the text."""
    end = start + length
    return text[max(start - 1, 0) : start].isalnum() or text[end : end + 1].isalnum()


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


def everything(hub: Hub, *workspaces: dict[str, Any]) -> str:
    """Return all that could contain a value: a dump of the database, every log, every download of these workspaces."""
    downloads = [text for workspace in workspaces for text in read_downloads(hub, workspace)]
    server = Server(hub.folder / "var")
    connection = server.connection_settings()
    dump = subprocess.run(
        [str(find_binaries() / "pg_dump"), "--inserts", "-h", str(server.sockets),
         "-U", "affidavit", "affidavit"],
        env={"PGPASSWORD": str(connection["PASSWORD"])}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    logs = hub.output + (hub.folder / "var" / "postgres.log").read_text()
    return dump.stdout + logs + "".join(downloads)


def read_downloads(hub: Hub, workspace: dict[str, Any]) -> Iterator[str]:
    yield json.dumps(catalog(hub, workspace), ensure_ascii=False)
    for name in ("overview", "catalog", "outcomes", "joins", "rejections"):
        yield json.dumps(page(hub, workspace, f"{name}.json"), ensure_ascii=False)
        yield page(hub, workspace, name)
