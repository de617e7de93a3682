"""Measure a hub on several hosts, set up by environment variables alone.

Each host is a network namespace with its own address. The hosts are PostgreSQL, a streaming replica of it, Redis, two
web hosts, and 1, then 2, then 4 worker hosts. All share the processors of this machine; their number is printed. So the
figures show how work is divided, not how fast so many machines would be. The benchmark needs root. Without root, it
says so and measures nothing.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psycopg

from bench._support.hub_client import FORK, measure_rate, send_request
from bench._support.measure import percentile
from bench._support.namespaces import FOLDER_VARIABLE, Host, Network, describe_obstacle, run_within
from bench._support.result_table import Row, print_table
from bench._support.run_hub import wait_until_ready
from bench.hub.data.catalog import generate_observations
from hub.celery import app
from hub.local.postgresql.programs import find_binaries, find_user_prefix

OPERATIONS = 200  # in each environment
OBSERVATIONS = 10  # in each report; their operations are chosen at random
REPORTS = int(os.environ.get("BENCH_REPORTS", "3000"))  # how many reports wait when the measurement of a fold begins
WARM_UP_REPORTS = 400
ACCEPT_SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
LAG_SECONDS = 2 * ACCEPT_SECONDS
LAG_RATE = 30  # reports a second
CLIENTS = 4
WORKERS = (1, 2, 4)
ENVIRONMENTS = ("production", "north", "south", "east")
PASSWORD = secrets.token_urlsafe(16)
START_SECONDS = 60
TICKS = os.sysconf("SC_CLK_TCK")

SAVE_REPORTS = "CREATE TABLE bench_report AS SELECT * FROM catalog_witnessreport WHERE sums IS NOT NULL"
# Insert the same reports again under new ids, in turn for each of the environments.
INSERT_REPORTS = """
INSERT INTO catalog_witnessreport (environment_id, report_id, reporter, size, sums, received_at, fault)
SELECT (%(environments)s::bigint[])[1 + n %% cardinality(%(environments)s::bigint[])],
       gen_random_uuid(), '', size, sums, now(), ''
FROM generate_series(1, %(reports)s) AS n
JOIN (SELECT *, row_number() OVER () AS number, count(*) OVER () AS total FROM bench_report) AS report
  ON report.number = 1 + n %% report.total
"""
COUNT_WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
COUNT_UNFOLDED = "SELECT count(*) FROM catalog_witnessreport WHERE folded_at IS NULL AND parked_at IS NULL"
SELECT_LAG = """
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(received_at)), 0)::float8
FROM catalog_witnessreport WHERE folded_at IS NULL AND parked_at IS NULL
"""
# Every observation has the count 1, so the catalog must count as many observations as the folded reports hold.
COUNT_MISSING = f"""
SELECT {OBSERVATIONS} * (SELECT count(*) FROM catalog_witnessreport WHERE folded_at IS NOT NULL)
       - (SELECT sum(observations) FROM catalog_operation)
"""


@dataclass
class Cluster:
    """The hosts of the cluster.

    workers: the worker hosts. Some of them run workers, others wait to be started.
    """

    database: psycopg.Connection[Any]
    database_process: subprocess.Popen[bytes]
    web_addresses: Sequence[str]
    workers: Sequence[Host]
    settings: Mapping[str, str]
    key: str
    environment_ids: Sequence[int]

    def start_workers(self, count: int) -> None:
        """Start workers until this many run, and wait until each answers through the broker."""
        for host in self.workers[:count]:
            if not host.processes:
                host.start([sys.executable, "manage.py", "run", "worker"], host_settings(self.settings, host))
        wait_for(lambda: len(app.control.ping(timeout=1, limit=count)) == count)

    def read_processor_seconds(self) -> tuple[float, float]:
        """Return the processor time of the workers, and that of PostgreSQL, until now."""
        workers = [process.pid for host in self.workers for process in host.processes]
        return sum(map(read_family_seconds, workers)), read_family_seconds(self.database_process.pid)

    def fetch(self, statement: str) -> Any:
        return self.database.execute(statement).fetchone()[0]  # type: ignore[index]  # each statement returns a row


def host_settings(settings: Mapping[str, str], host: Host) -> dict[str, str]:
    own = {"HUB_DATA_DIR": str(host.folder / "var"), "HUB_HOST": host.address, "ALLOWED_HOSTS": "*"}
    return {**settings, **own}


def start_cluster(network: Network) -> Cluster:
    database_host, replica_host, broker_host = map(network.add_host, ("database", "replica", "broker"))
    web_hosts = [network.add_host(f"web{number}") for number in (1, 2)]
    workers = [network.add_host(f"worker{number}") for number in range(1, max(WORKERS) + 1)]
    database_process = start_database(database_host)
    broker_host.start(["redis-server", "--bind", broker_host.address, "--protected-mode", "no", "--save", ""])
    settings = {
        "DATABASE_URL": f"postgresql://affidavit:{PASSWORD}@{database_host.address}:5432/postgres",
        "DATABASE_PREPARE": "true",
        "REPLICA_DATABASE_URL": f"postgresql://affidavit:{PASSWORD}@{replica_host.address}:5432/postgres",
        "CELERY_BROKER_URL": f"redis://{broker_host.address}:6379/0",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "RATE_LIMIT": "0",
        "DJANGO_SETTINGS_MODULE": "hub.settings",
    }
    os.environ.update(settings, HUB_DATA_DIR=str(database_host.folder / "observer"))  # the broker's client reads these
    database = wait_for(lambda: connect(settings["DATABASE_URL"]))
    start_replica(replica_host, database_host)
    web_hosts[0].run([sys.executable, "manage.py", "prepare"], host_settings(settings, web_hosts[0]))
    for host in web_hosts:
        host.start([sys.executable, "manage.py", "run", "web"], host_settings(settings, host))
    key, environment_ids = create_environments(database)
    addresses = [f"http://{host.address}:8000" for host in web_hosts]
    for address in addresses:
        wait_until_ready(address)
    return Cluster(database, database_process, addresses, workers, settings, key, environment_ids)


def start_database(host: Host) -> subprocess.Popen[bytes]:
    """Start PostgreSQL with its default durability."""
    data, password_file = host.folder / "data", host.folder / "password"
    password_file.write_text(PASSWORD)
    host.run(
        [
            *find_user_prefix(), str(find_binaries() / "initdb"), f"--pgdata={data}", "--username=affidavit",
            f"--pwfile={password_file}", "--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin",
            "--locale=C.UTF-8",
        ]
    )  # fmt: skip
    with (data / "pg_hba.conf").open("a") as file:
        file.write("host all all samenet scram-sha-256\nhost replication all samenet scram-sha-256\n")
    return run_server(host, data)


def start_replica(host: Host, primary: Host) -> None:
    """Copy the database as a streaming replica, and start it."""
    data = host.folder / "data"
    source = f"host={primary.address} user=affidavit password={PASSWORD}"
    copy = [str(find_binaries() / "pg_basebackup"), f"--dbname={source}", f"--pgdata={data}", "--checkpoint=fast"]
    host.run([*find_user_prefix(), *copy, "--write-recovery-conf"])
    run_server(host, data)


def run_server(host: Host, data: Path) -> subprocess.Popen[bytes]:
    options = {
        "listen_addresses": host.address, "unix_socket_directories": str(host.folder), "max_connections": "100",
        "shared_buffers": "128MB",
    }  # fmt: skip
    arguments = [argument for name, value in options.items() for argument in ("-c", f"{name}={value}")]
    return host.start([*find_user_prefix(), str(find_binaries() / "postgres"), "-D", str(data), *arguments])


def connect(address: str) -> psycopg.Connection[Any] | None:
    try:
        return psycopg.connect(address, autocommit=True)
    except psycopg.OperationalError:
        return None


def create_environments(database: psycopg.Connection[Any]) -> tuple[str, Sequence[int]]:
    """Create a workspace with all environments; return a key for it, and their ids."""
    environments = [argument for name in ENVIRONMENTS[1:] for argument in ("--environment", name)]
    command = [sys.executable, "manage.py", "create_workspace", "--full-key", "--json", "Cluster"]
    process = subprocess.run([*command, *environments], capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(process.stderr)
    rows = database.execute("SELECT id FROM workspaces_environment ORDER BY id").fetchall()
    return json.loads(process.stdout)["secretKey"], [environment_id for (environment_id,) in rows]


def make_request_builder(key: str, address: str, seed: int) -> Callable[[], bytes]:
    """Return a function that builds requests. Each reports OBSERVATIONS operations that are chosen at random."""
    chance = random.Random(seed)
    observations = [json.dumps(observation, separators=(",", ":")) for observation in generate_observations(OPERATIONS)]
    head = f"POST /api/witness-reports HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\nx-service-api-key: {key}\r\n"
    head += "content-type: application/json\r\ncontent-length: "

    def build_request() -> bytes:
        items = ",".join(chance.sample(observations, OBSERVATIONS))
        body = f'{{"reportId":"{uuid.uuid4()}","observations":[{items}]}}'
        return f"{head}{len(body)}\r\n\r\n{body}".encode()

    return build_request


def measure_acceptance(cluster: Cluster) -> Iterator[Row]:
    """Measure how many reports the web hosts accept while no worker runs; keep these reports for the folds."""
    hosts = cluster.web_addresses
    rates = []
    for addresses in (hosts[:1], hosts):
        clients = [make_request_builder(cluster.key, hosts[n % len(hosts)], n) for n in range(CLIENTS)]
        measure_rate(addresses, clients, 1)  # warm up: the hub remembers the descriptors
        rates.append(measure_rate(addresses, clients, ACCEPT_SECONDS).per_second)
    cluster.database.execute(SAVE_REPORTS)
    single_rate, double_rate = rates
    yield Row(
        f"accepted, 2 web hosts, {CLIENTS} clients",
        f"{double_rate:,.0f}/s",
        f"1 web host {single_rate:,.0f}/s",
        double_rate / single_rate,
    )


def measure_folds(cluster: Cluster) -> Iterator[Row]:
    """Measure how fast waiting reports are folded, in one environment and in several, with more and more workers."""
    references: dict[str, float] = {}
    for count in WORKERS:
        cluster.start_workers(count)
        if count == WORKERS[0]:
            # This fold creates the operations of each environment.
            fold(cluster, cluster.environment_ids, count, reports=WARM_UP_REPORTS)
        groups = {"one environment": cluster.environment_ids[:1], "four environments": cluster.environment_ids}
        for label, environment_ids in groups.items():
            fold_run = fold(cluster, environment_ids, count)
            reference = references.setdefault(label, fold_run.rate)
            yield Row(
                f"folded, {label}, {count} workers", f"{fold_run.rate:,.0f}/s", str(fold_run), fold_run.rate / reference
            )
        lag = measure_lag(cluster)
        yield Row(f"lag, {count} workers, p95", f"{lag:.2f} s", f"{LAG_RATE} reports/s come", lag, None, "s")


class FoldRun(NamedTuple):
    """One measured fold.

    rate: reports per second.
    worker_milliseconds, database_milliseconds: processor time per report.
    waiting_share: the mean share of workers that wait for the merges of others, from 0 to 1.
    """

    rate: float
    worker_milliseconds: float
    database_milliseconds: float
    waiting_share: float

    def __str__(self) -> str:
        processor = f"{self.worker_milliseconds:.1f} + {self.database_milliseconds:.1f} ms"
        return f"worker + PostgreSQL {processor} of processor a report; {self.waiting_share:.0%} waiting"


def fold(cluster: Cluster, environment_ids: Sequence[int], workers: int, *, reports: int = REPORTS) -> FoldRun:
    """Insert this many reports for these environments. Measure until they and all earlier reports are folded."""
    before = cluster.read_processor_seconds()
    parameters = {"environments": list(environment_ids), "reports": reports}
    reports = cluster.fetch(COUNT_UNFOLDED) + cluster.database.execute(INSERT_REPORTS, parameters).rowcount
    start = time.perf_counter()
    for environment_id in environment_ids:
        for _ in range(max(workers // len(environment_ids), 1)):  # several web processes also send a task repeatedly
            app.send_task("catalog.tasks.fold", args=[environment_id])
    waiting_workers: list[int] = []
    while cluster.fetch(COUNT_UNFOLDED):
        waiting_workers.append(cluster.fetch(COUNT_WAITING))
        time.sleep(0.05)
    seconds = time.perf_counter() - start
    spent = [after - earlier for earlier, after in zip(before, cluster.read_processor_seconds(), strict=True)]
    waiting_share = sum(waiting_workers) / max(len(waiting_workers), 1) / workers
    return FoldRun(reports / seconds, spent[0] / reports * 1000, spent[1] / reports * 1000, waiting_share)


def measure_lag(cluster: Cluster) -> float:
    """Return the lag while reports arrive: the 95th percentile of the age of the oldest waiting report, in seconds."""
    pause = len(cluster.web_addresses) / LAG_RATE
    clients = [
        FORK.Process(target=send_steadily, args=(cluster.key, address, pause)) for address in cluster.web_addresses
    ]
    for client in clients:
        client.start()
    lags = []
    while any(client.is_alive() for client in clients):
        lags.append(cluster.fetch(SELECT_LAG))
        time.sleep(0.05)
    wait_for(lambda: cluster.fetch(COUNT_UNFOLDED) == 0)
    return percentile(lags, 0.95)


def send_steadily(key: str, address: str, pause: float) -> None:
    """Send a report to one web host every `pause` seconds, for LAG_SECONDS."""
    build_request = make_request_builder(key, address, 7)
    end = time.monotonic() + LAG_SECONDS
    while (sent_at := time.monotonic()) < end:
        send_request(address, build_request())
        time.sleep(max(sent_at + pause - time.monotonic(), 0))


def measure_replica(cluster: Cluster) -> Row:
    """Download the catalog from each web host until it comes from the replica."""
    ages = [wait_for(partial(read_age, address, cluster.key)) for address in cluster.web_addresses]
    return Row("the catalog, read from the replica", f"{max(map(int, ages))} s old at most", "", 0, None, "")


def read_age(address: str, key: str) -> str | None:
    request = urllib.request.Request(f"{address}/api/catalog/openapi.json", headers={"x-service-api-key": key})
    with urllib.request.urlopen(request, timeout=60) as response:
        age: str | None = response.headers.get("X-Data-Age")
        return age


def wait_for(condition: Callable[[], Any], *, pause: float = 0.1) -> Any:
    """Return the first true value that `condition` returns. Raise SystemExit after START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise SystemExit("The cluster made no progress for a minute.")
        time.sleep(pause)
    return value


def read_family_seconds(pid: int) -> float:
    """Return the processor time, in seconds, of a process and its descendants, including those that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / TICKS  # user and system time, then both times of children that have ended
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(read_family_seconds(int(child)) for child in children)


def measure(folder: Path) -> Iterator[Row]:
    cluster = start_cluster(Network(folder))
    yield from measure_acceptance(cluster)
    yield from measure_folds(cluster)
    yield measure_replica(cluster)
    if missing := cluster.fetch(COUNT_MISSING):
        raise SystemExit(f"{missing} observations of folded reports are not in the catalog.")
    count = cluster.fetch("SELECT sum(observations) FROM catalog_operation")
    yield Row("observations lost or doubled", "0", f"of {count:,}", 0, 0, "")


def main() -> int:
    if obstacle := describe_obstacle():
        print(f"Skipped: this machine cannot have several hosts ({obstacle}).")
        return 0
    if shutil.which("redis-server") is None:
        print("Skipped: redis-server is not installed.")
        return 0
    if FOLDER_VARIABLE not in os.environ:
        return run_within("bench.hub.cluster")
    print(f"{os.cpu_count()} processors for all hosts together")
    print_table(measure(Path(os.environ[FOLDER_VARIABLE])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
