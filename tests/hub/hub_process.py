"""Run a real hub for tests: `manage.py up` in a folder of its own. Keep its output, and end all its processes."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hub.local.postgresql.server import Server
from tests.embedded_database import FOLDER

ROOT = Path(__file__).resolve().parents[2]
READY = re.compile(r"Affidavit is ready at (\S+)\. ")


@dataclass
class Hub:
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        return (self.folder / "output.log").read_text()

    @property
    def environment(self) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("AFFIDAVIT") and k != "DATABASE_URL"}
        own = {"HUB_DATA_DIR": str(self.folder / "var"), "HUB_PORT": str(self.port), "HUB_SAMPLE": "0"}
        return {**inherited, **own, **self.settings, "DJANGO_SETTINGS_MODULE": "hub.settings"}

    def start(self, *, seconds: float = 60, from_nothing: bool = False) -> None:
        """Start and wait for the printed address.

        from_nothing: whether to create the database instead of copying an empty one.
        """
        is_new = from_nothing or self.environment["HUB_SAMPLE"] == "1" or "DATABASE_URL" in self.settings
        if not ((self.folder / "var").exists() or is_new):
            self.copy_empty_database()
        with (self.folder / "output.log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"], cwd=ROOT, env=self.environment, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if READY.search(self.output):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the hub did not start:\n{self.output}")

    def copy_empty_database(self) -> None:
        """Copy a data directory whose database is migrated and unused."""
        shutil.copytree(prepare_empty_database() / "var", self.folder / "var")

    def copy_workspace(self) -> dict[str, Any]:
        """Copy a data directory with one workspace, before the first start. Return its keys, as the command printed."""
        folder = prepare_workspace()
        shutil.copytree(folder / "var", self.folder / "var")
        return json.loads((folder / "output").read_text())

    def create_sign_in_link(self) -> str:
        """Return the address of a one-time link for the operator."""
        return self.manage("sign_in_link").stdout.strip()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=30)

    def kill(self) -> None:
        """Kill every process of this hub with SIGKILL, including PostgreSQL's."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if self.process:
            self.process.wait(timeout=10)
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)

    def processes(self) -> list[int]:
        """Return the ids of processes with this hub's data directory in their environment or command line."""
        mark = str(self.folder / "var").encode()
        pids = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            pid = int(entry.name)
            if mark in read_process(pid, "environ") + read_process(pid, "cmdline") and is_alive(pid):
                pids.append(pid)
        return pids

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120)

    def affidavit(self, *arguments: str, key: str = "") -> subprocess.CompletedProcess[str]:
        """Run `affidavit`, the customer's command line."""
        path = os.pathsep.join([str(ROOT / "sdk" / "src"), os.environ.get("PYTHONPATH", "")])
        environment = {**self.environment, "PYTHONPATH": path, "AFFIDAVIT_API_KEY": key}
        command = [sys.executable, "-m", "affidavit", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)

    def request(
        self, path: str, body: Any = None, *, key: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Return status, body (parsed if it is JSON) and headers, also for errors."""
        data = None if body is None else json.dumps(body).encode()
        all_headers = {"Content-Type": "application/json", "x-service-api-key": key, **(headers or {})}
        request = urllib.request.Request(self.address + path, data, {k: v for k, v in all_headers.items() if v})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, content(response), response.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, content(error), error.headers


def prepare_empty_database() -> Path:
    return run_once("unused hub", "migrate")


def prepare_workspace() -> Path:
    arguments = ("Lumen Books", "--environment", "staging", "--full-key", "--json")
    return run_once("hub with a workspace", "create_workspace", *arguments)


@functools.cache
def run_once(name: str, *command: str) -> Path:
    """Run a command of manage.py, once per test run. Return a folder with its data directory, `var`, and its `output`.

    name: the name of the folder.
    """
    folder = Path(os.environ[FOLDER]) / name
    with folder.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            new = folder.with_suffix(".new")
            new.mkdir(exist_ok=True)
            environment = {**os.environ, "HUB_DATA_DIR": str(new / "var"), "DJANGO_SETTINGS_MODULE": "hub.settings"}
            with (new / "output").open("w") as output:
                subprocess.run(
                    [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True, stdout=output
                )
            new.rename(folder)
    return folder


def content(response: Any) -> Any:
    raw = response.read()
    return json.loads(raw) if "json" in response.headers.get("Content-Type", "") else raw.decode()


@contextmanager
def running_hub(folder: Path) -> Iterator[Hub]:
    """Yield a hub that is not started yet. At the end, kill all processes that it left, and remove its socket."""
    folder.mkdir(parents=True, exist_ok=True)
    hub = Hub(folder, free_port())
    try:
        yield hub
    finally:
        hub.kill()
        shutil.rmtree(Server(folder / "var").sockets, ignore_errors=True)


def find_processes(hub: Hub, *words: str) -> list[int]:
    """Return the ids of a hub's processes whose command line has all these words, the oldest first."""
    lines = {pid: read_process(pid, "cmdline").decode().split("\0") for pid in sorted(hub.processes())}
    return [pid for pid, arguments in lines.items() if all(word in arguments for word in words)]


def read_process(pid: int, name: str) -> bytes:
    """Return the content of a file in /proc of a process; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def read_parent(pid: int) -> int:
    """Return the process id of a process' parent; 0 if the process has ended."""
    state = read_process(pid, "stat").rpartition(b")")[2].split()
    return int(state[1]) if state else 0


def is_alive(pid: int) -> bool:
    """Return whether a process runs. A zombie, which its parent has not collected yet, does not run."""
    state = read_process(pid, "stat").rpartition(b")")[2].split()
    return bool(state) and state[0] != b"Z"


def is_ready(hub: Hub) -> bool:
    try:
        return hub.request("/readyz")[0] == 200
    except OSError:
        return False


def wait_for(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
