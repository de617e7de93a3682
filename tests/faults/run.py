"""Play faults against a real hub under load, then compare its data with the clients' ledger."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.faults.clients import SHAPE, Client
from tests.faults.injected_faults import (
    CLOCK_FAULTS,
    DISK_FULL,
    KILL_EVERYTHING,
    OTHER_FAULTS,
    PROGRAM_NAMES,
    RESTART,
    Site,
    fill_disk,
    kill_everything,
    kill_programs,
    pack_offset,
    restart,
)
from tests.faults.ledger import Ledger, Row, compare
from tests.faults.stored_data import compare_totals, count_stored
from tests.hub.hub_process import Hub, running_hub, wait_for

BACK_SECONDS = 240.0  # until the hub must be back; long, because other work may share the machine
SLOW_SECONDS = 30.0  # if the hub needs longer until it folds again, its logs are printed
LOG_BYTES = 6000
# Kills of one program. If it ended ten times in a row, each time within a minute, the supervisor would end.
KILLS_UNTIL_A_RESTART = 8
SMALL_DISK = "1500m"
PROBE_ENVIRONMENT = "probe"
CLOCK_SOURCE = Path(__file__).with_name("clock.c")
SELECT_UNFOLDED = "SELECT count(*) FROM catalog_witnessreport WHERE folded_at IS NULL AND parked_at IS NULL"


@dataclass(frozen=True)
class Plan:
    """The faults of a run.

    kills: the number of processes to kill.
    minutes: after these minutes no fault begins.
    share_of_others: the share of other faults, which are played between the kills.
    """

    kills: int
    minutes: float
    seed: int
    clients: int = 4
    share_of_others: float = 0.2


@dataclass
class Recovery:
    """How long the hub took to recover, in seconds from the end of a fault.

    For a restart or a kill of all processes, the seconds count from the beginning of the fault.

    complete: until all processes ran again.
    storing, folding: until the hub stored and folded again.
    """

    fault: str
    complete: float
    storing: float
    folding: float


@dataclass
class Result:
    plan: Plan
    kills: int = 0
    recoveries: list[Recovery] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    surprises: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def is_exact(self) -> bool:
        return all(row.is_exact for row in self.rows.values())


def play(plan: Plan, folder: Path, report: Callable[[str], None] = print) -> Result:
    """Play a plan against a new hub in this folder. If the hub does not come back, end early and note a surprise."""
    result, chance, started_at = Result(plan), random.Random(plan.seed), time.monotonic()
    with small_disk(folder, result) as is_small, running_hub(folder) as hub:
        clock_file = prepare_clock(hub, folder, result)
        hub.start(seconds=180)
        created = hub.manage(
            "create_workspace", "Fault Works", "--environment", PROBE_ENVIRONMENT, "--full-key", "--json"
        )
        key = json.loads(created.stdout)["secretKey"]
        ledger = Ledger()
        site = Site(hub, key, ledger, chance, is_small, clock_file)
        clients = [Client(number, hub.address, key, ledger, plan.seed) for number in range(plan.clients)]
        for client in clients:
            client.start()
        try:
            play_faults(site, plan, result, report)
        except KeyboardInterrupt:
            report("ended early; comparing what was sent until now")
        except (AssertionError, OSError, psycopg.Error, subprocess.SubprocessError) as error:
            result.surprises[f"the hub did not come back, so the run ended early: {error!r}"] += 1
        finally:
            for client in clients:
                client.end()
            for client in clients:
                client.join()
                result.statuses += client.statuses
                result.surprises += client.surprises
        result.surprises.update(f"a client failed: {client.failure!r}" for client in clients if client.failure)
        result.rows, result.refused = compare_with_hub(site), ledger.count_refused()
    result.seconds = time.monotonic() - started_at
    return result


def play_faults(site: Site, plan: Plan, result: Result, report: Callable[[str], None]) -> None:
    deadline = time.monotonic() + plan.minutes * 60
    kills_since_start: Counter[str] = Counter()
    other_faults = {
        **OTHER_FAULTS,
        **({DISK_FULL: fill_disk} if site.small_disk else {}),
        **(CLOCK_FAULTS if site.clock_file else {}),
    }
    while result.kills < plan.kills and time.monotonic() < deadline:
        time.sleep(site.chance.uniform(0, 1.5))
        programs: list[str] = []
        if max(kills_since_start.values(), default=0) >= KILLS_UNTIL_A_RESTART or site.chance.random() < 0.02:
            name, cause = site.chance.choice([(RESTART, restart), (KILL_EVERYTHING, kill_everything)])
            kills_since_start.clear()
        elif site.chance.random() < plan.share_of_others:
            name, cause = site.chance.choice(list(other_faults.items()))
        else:
            count = min(site.chance.choice([1, 1, 2, 3]), plan.kills - result.kills)
            programs = site.chance.sample(PROGRAM_NAMES, k=count)
            name, cause = name_kill(programs), kill_programs(programs)
            kills_since_start.update(programs)
        result.kills += len(programs) or name == KILL_EVERYTHING
        log_sizes = measure_logs(site)
        recovery = recover_from(site, name, cause, programs)
        result.recoveries.append(recovery)
        report(f"{result.kills:4} kills  {describe(recovery)}  {', '.join(programs[1:] and programs)}".rstrip())
        if recovery.folding > SLOW_SECONDS:
            report(read_logs(site, log_sizes))


def name_kill(programs: Sequence[str]) -> str:
    return f"kill -9 of {programs[0]}" if len(programs) == 1 else f"kill -9 of {len(programs)} programs at once"


def recover_from(site: Site, name: str, cause: Callable[[Site], None], programs: Sequence[str]) -> Recovery:
    """Cause a fault. Wait until all processes run again and the hub stores and folds.

    programs: the programs that the fault kills, one process of each.
    """
    former_processes = site.list_processes()
    started_at = time.monotonic() if name in (RESTART, KILL_EVERYTHING) else None
    cause(site)
    started_at = started_at or time.monotonic()
    wait_for(lambda: is_complete(site, former_processes, programs), BACK_SECONDS)
    complete = time.monotonic() - started_at
    wait_for(lambda: is_storing(site), BACK_SECONDS)
    storing = time.monotonic() - started_at
    path = f"/probe/{''.join(site.chance.choices('abcdefghijklm', k=7))}"
    wait_for(lambda: post_probe_report(site, path), BACK_SECONDS)
    wait_for(lambda: is_folded(site, path), BACK_SECONDS)
    return Recovery(name, complete, storing, time.monotonic() - started_at)


def measure_logs(site: Site) -> dict[Path, int]:
    """Return the sizes of the logs of the hub and its database."""
    logs = (site.hub.folder / "output.log", site.var / "postgres.log")
    return {path: path.stat().st_size if path.exists() else 0 for path in logs}


def read_logs(site: Site, former_sizes: Mapping[Path, int]) -> str:
    """Return the last log lines that were written since the logs had these sizes. A log that is shorter now is new."""
    lines: list[str] = []
    for path, size in measure_logs(site).items():
        with path.open("rb") as file:
            file.seek(former_sizes[path] if size >= former_sizes[path] else 0)
            text = file.read().decode(errors="replace")
        lines += [f"      {path.name}:", *(f"        {line}" for line in text[-LOG_BYTES:].splitlines())]
    return "\n".join(lines)


def is_complete(site: Site, former_processes: Mapping[str, Sequence[int]], killed_programs: Sequence[str]) -> bool:
    """Return whether each program has as many processes as before, and every killed process is replaced."""
    processes = site.list_processes()
    are_as_many = all(len(processes[program]) >= max(len(pids), 1) for program, pids in former_processes.items())
    return are_as_many and all(set(processes[program]) - set(former_processes[program]) for program in killed_programs)


def is_storing(site: Site) -> bool:
    outcome = {"conversationId": str(uuid.uuid4()), "outcomeKey": "probe"}
    body = {"environment": PROBE_ENVIRONMENT, "outcomes": [outcome]}
    return post(site, "/api/conversation-outcomes", body) == 200


def post_probe_report(site: Site, path: str) -> bool:
    observation = {"method": "GET", "path": path, "status": 200, "count": 1, "response": SHAPE}
    body = {"environment": PROBE_ENVIRONMENT, "reportId": str(uuid.uuid4()), "observations": [observation]}
    return post(site, "/api/witness-reports", body) == 202


def post(site: Site, path: str, body: Any) -> int:
    """Send a POST; return the status, or 0 if there is no answer."""
    with suppress(OSError):
        return site.hub.request(path, body, key=site.key)[0]
    return 0


def is_folded(site: Site, path: str) -> bool:
    with suppress(OSError):
        status, catalog, _ = site.hub.request(f"/api/catalog?environment={PROBE_ENVIRONMENT}", key=site.key)
        return status == 200 and any(operation["path"] == path for operation in catalog["operations"])
    return False


def compare_with_hub(site: Site) -> dict[str, Row]:
    with site.connect() as connection:
        wait_for(lambda: is_inbox_empty(connection), BACK_SECONDS)
        stored = count_stored(site.hub, site.key, connection)
        bounds, totals = compare_totals(site.hub, site.key, stored)
    return compare({**site.ledger.read_bounds(), **bounds}, stored + totals)


def is_inbox_empty(connection: psycopg.Connection[Any]) -> bool:
    return connection.execute(SELECT_UNFOLDED).fetchone() == (0,)


@contextmanager
def small_disk(folder: Path, result: Result) -> Iterator[bool]:
    """Mount a small file system for the hub's data if this process may; say why if it may not."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK},mode=0700", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        result.skipped[DISK_FULL] = f"no small file system can be mounted here: {getattr(error, 'stderr', '') or error}"
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def prepare_clock(hub: Hub, folder: Path, result: Result) -> Path | None:
    """Let the hub's processes read a clock that can be set, and return its file. If that fails, note the reason."""
    library, clock_file = folder / "clock.so", folder / "clock"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK_SOURCE), "-ldl"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        result.skipped["clock"] = f"{CLOCK_SOURCE.name} cannot be compiled: {getattr(error, 'stderr', '') or error}"
        return None
    clock_file.write_bytes(pack_offset(0))
    hub.settings |= {"LD_PRELOAD": str(library), "HUB_TEST_CLOCK": str(clock_file)}
    return clock_file


def describe(recovery: Recovery) -> str:
    times = f"complete after {recovery.complete:.1f} s, stores after {recovery.storing:.1f} s"
    return f"{recovery.fault}: {times}, folds after {recovery.folding:.1f} s"


def summarize_recoveries(result: Result) -> list[dict[str, Any]]:
    """Return a row for each kind of fault.

    A row has the number of faults, and the median and the most seconds until the hub stored and folded again.
    """
    rows = []
    for name in dict.fromkeys(recovery.fault for recovery in result.recoveries):
        storing = [recovery.storing for recovery in result.recoveries if recovery.fault == name]
        folding = [recovery.folding for recovery in result.recoveries if recovery.fault == name]
        rows.append(
            {
                "fault": name, "times": len(storing),
                "storesMedian": round(statistics.median(storing), 1), "storesWorst": round(max(storing), 1),
                "foldsMedian": round(statistics.median(folding), 1), "foldsWorst": round(max(folding), 1),
            }
        )  # fmt: skip
    return rows
