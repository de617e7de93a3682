"""Measure how the hub accepts witness reports of 10 observations (20 KB) whose shapes were sent before.

The first figure is the rate of the whole stack, with the load generator and the fold on the same machine. The second is
the processor time of one request in this process. It is compared with the least that any hub has to do: parse the body
with json.loads, and insert a row. The last figure is how long a report of a quiet environment waits for its fold while
clients send many reports to another environment.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection

from bench._support.hub_client import FORK, measure_rate
from bench._support.result_table import Row, print_table
from bench._support.run_hub import run_hub
from bench.hub.data.catalog import generate_observations
from bench.hub.data.workspaces import create_workspace

OBSERVATIONS = 10
CLIENTS = 8
SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
CALLS = 200
QUIET_REPORTS = 20
QUIET_PAUSE = 0.5  # seconds between reports of the quiet environment
LOAD_CLIENTS = 2  # clients that send to the loaded environment without a pause
LAG_LIMIT = 2.0  # seconds
WANTED = 1000  # reports per second
LIMIT = 4.0  # times the processor time of json.loads and one insert
ADDRESS = "/api/witness-reports"
ID_MARK = "ID"
DOCUMENTS = 100
COUNT = re.compile(r'("(?:seen|nulls|count)": )([0-9]+)')
CREATE_TABLE = "CREATE TEMPORARY TABLE bare_report (id bigserial PRIMARY KEY, report_id text, size integer)"
OF_WORKSPACE = "SELECT id FROM workspaces_environment WHERE workspace_id = %s"
COUNT_UNFOLDED = (
    f"SELECT count(*) FROM catalog_witnessreport WHERE environment_id IN ({OF_WORKSPACE}) AND folded_at IS NULL"
)
SELECT_LAG = f"""
SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM folded_at - received_at))::float8
  FROM catalog_witnessreport WHERE environment_id IN ({OF_WORKSPACE})
"""
INSERT = "INSERT INTO bare_report (report_id, size) VALUES (%s, %s)"


def make_body_builder() -> Callable[[], bytes]:
    """Return a function that builds reports of the same shapes. Each has a new id; counts repeat after DOCUMENTS."""
    chance = random.Random(9)
    documents = itertools.cycle([build_document(chance) for _ in range(DOCUMENTS)])

    def build_body() -> bytes:
        begin, end = next(documents)
        return begin + str(uuid.uuid4()).encode() + end

    return build_body


def build_document(chance: random.Random) -> tuple[bytes, bytes]:
    """Return the text of a report before its id, and the text after it."""
    now = int(time.time())
    observations = [
        {**vary_counts(observation, chance), "firstSeenAt": now, "lastSeenAt": now}
        for observation in islice(generate_observations(1000), OBSERVATIONS)
    ]
    document = json.dumps({"reportId": ID_MARK, "observations": observations}, separators=(",", ":"))
    begin, end = document.encode().split(ID_MARK.encode(), 1)
    return begin, end


def vary_counts(observation: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return the observation as a sum of many exchanges, only some of which had the property `optional`."""
    count = chance.randrange(2, 1000)
    text = COUNT.sub(lambda match: f"{match[1]}{int(match[2]) * count}", json.dumps({**observation, "count": 1}))
    varied: dict[str, Any] = json.loads(text)
    varied["response"]["properties"]["optional"] = {"type": "string", "seen": chance.randrange(1, count)}
    return varied


def make_request_builder(key: str) -> Callable[[], bytes]:
    build_body = make_body_builder()
    head = f"POST {ADDRESS} HTTP/1.1\r\nHost: localhost\r\nx-service-api-key: {key}\r\ncontent-type: application/json"

    def build_request() -> bytes:
        body = build_body()
        return f"{head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body

    return build_request


def measure_whole_stack(address: str, key: str) -> Row:
    clients = [make_request_builder(key) for _ in range(CLIENTS)]
    measure_rate([address], clients, 1)  # warm up: the hub learns the shapes
    rate = measure_rate([address], clients, SECONDS).per_second
    label = f"{WANTED:,} reports/s ÷ measured, {CLIENTS} clients"
    return Row(label, f"{rate:,.0f}/s", f"{WANTED:,}/s wanted", WANTED / rate, 1)


def measure_processor_time(key: str) -> Row:
    """Compare the processor time of one request with that of json.loads and one insert, in turns."""
    build_body, application = make_body_builder(), WSGIHandler()
    with connection.cursor() as cursor:
        cursor.execute(CREATE_TABLE)

    def report() -> None:
        statuses: list[str] = []
        response = application(build_environ(build_body(), key), lambda status, _: statuses.append(status))
        response.close()
        if not statuses[0].startswith("202"):
            raise SystemExit(f"Expected 202, got: {statuses[0]}")

    def insert() -> None:
        body = build_body()
        with connection.cursor() as cursor:
            cursor.execute(INSERT, [json.loads(body)["reportId"], len(body)])

    seconds = {report: 0.0, insert: 0.0}
    report()
    for _ in range(CALLS):
        for call in seconds:
            start = time.process_time()
            call()
            seconds[call] += time.process_time() - start
    micros = {call: total / CALLS * 1e6 for call, total in seconds.items()}
    label = f"one report of {OBSERVATIONS} observations, processor time"
    reference = f"json.loads and one insert {micros[insert]:.0f} µs"
    return Row(label, f"{micros[report]:.0f} µs", reference, micros[report] / micros[insert], LIMIT)


def measure_quiet_lag(address: str, loaded: dict[str, Any], quiet: dict[str, Any]) -> Row:
    """Measure how long reports of a quiet environment wait while clients send many reports to another one."""
    clients = [make_request_builder(loaded["secretKey"]) for _ in range(LOAD_CLIENTS)]
    seconds = QUIET_REPORTS * QUIET_PAUSE
    load = FORK.Process(target=measure_rate, args=([address], clients, seconds))
    load.start()
    build_body = make_body_builder()
    headers = {"x-service-api-key": quiet["secretKey"], "content-type": "application/json"}
    for _ in range(QUIET_REPORTS):
        urllib.request.urlopen(urllib.request.Request(address + ADDRESS, build_body(), headers), timeout=60).close()
        time.sleep(QUIET_PAUSE)
    load.join()
    with connection.cursor() as cursor:
        unfolded = 1
        while unfolded:
            time.sleep(0.2)
            cursor.execute(COUNT_UNFOLDED, [quiet["workspaceId"]])
            unfolded = cursor.fetchone()[0]
        cursor.execute(SELECT_LAG, [quiet["workspaceId"]])
        lag = cursor.fetchone()[0]
    label = f"fold of a quiet environment beside {LOAD_CLIENTS} clients of another, p95"
    return Row(label, f"{lag:.2f} s", f"{QUIET_REPORTS} reports", lag, LAG_LIMIT, "s")


def build_environ(body: bytes, key: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST", "PATH_INFO": ADDRESS, "QUERY_STRING": "", "SERVER_NAME": "localhost",
        "SERVER_PORT": "80", "REMOTE_ADDR": "127.0.0.1", "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)), "HTTP_HOST": "localhost", "HTTP_X_SERVICE_API_KEY": key,
        "wsgi.url_scheme": "http", "wsgi.input": BytesIO(body),
    }  # fmt: skip


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, run_hub(Path(folder)) as address:
        workspace, quiet_workspace = create_workspace("Reports"), create_workspace("Quiet")
        yield measure_whole_stack(address, workspace["secretKey"])
        os.environ["DJANGO_SETTINGS_MODULE"] = "hub.web_role_settings"
        django.setup()
        yield measure_processor_time(workspace["secretKey"])
        yield measure_quiet_lag(address, workspace, quiet_workspace)
        connection.close()


if __name__ == "__main__":
    print_table(rows())
