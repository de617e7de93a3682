"""Several hosts on one machine: network namespaces with an address each, joined by a bridge.

The hosts are made within the namespaces (network, mounts, process ids) of one process, so that nothing outside sees
them. In whatever way that process ends, the kernel ends every process of the hosts and removes the namespaces.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER_VARIABLE = "BENCH_CLUSTER_FOLDER"  # only set within the namespaces
NETWORK = "10.77.0"
MOST_SECONDS = 600
UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def describe_obstacle() -> str:
    """Return why this machine cannot make network namespaces; "" if it can."""
    if missing := [name for name in ("ip", "unshare") if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)}"
    if os.getuid() != 0:
        return "network namespaces need root"
    probe = subprocess.run([*UNSHARE, "ip", "link", "add", "probe", "type", "bridge"], capture_output=True, text=True)
    return probe.stderr.strip() if probe.returncode else ""


def run_within(module: str) -> int:
    """Run a module again, within namespaces of its own and with a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="cluster", ignore_cleanup_errors=True) as folder:
        command = [*UNSHARE, sys.executable, "-m", module]
        environment = {**os.environ, FOLDER_VARIABLE: folder}
        return subprocess.run(command, env=environment, timeout=MOST_SECONDS).returncode


@dataclass
class Host:
    """One host.

    processes: the processes that were started on it.
    """

    name: str
    address: str
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a program of this host; what it prints goes into the host's log."""
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*self._prefix, *command], stdout=log, stderr=log, env={**os.environ, **(environment or {})}
            )
        self.processes.append(process)
        return process

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Run a program of this host to its end. Raise SystemExit with its output if it fails."""
        all_variables = {**os.environ, **(environment or {})}
        process = subprocess.run([*self._prefix, *command], capture_output=True, text=True, env=all_variables)
        if process.returncode:
            raise SystemExit(f"{self.name}: {' '.join(command)} failed:\n{process.stdout}{process.stderr}")

    @property
    def _prefix(self) -> list[str]:
        return ["ip", "netns", "exec", self.name]


class Network:
    """The bridge and the hosts that are connected to it. This process is connected to the bridge too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 1
        Path("/run/netns").mkdir(exist_ok=True)
        _run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", "bridge", "type", "bridge")
        _run("ip", "address", "add", f"{NETWORK}.1/24", "dev", "bridge")
        _run("ip", "link", "set", "bridge", "up")

    def add_host(self, name: str) -> Host:
        self._count += 1
        host = Host(name, f"{NETWORK}.{self._count}", self._folder / name)
        host.folder.mkdir()
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _run("ip", "link", "set", name, "master", "bridge", "up")
        _run("ip", "-n", name, "address", "add", f"{host.address}/24", "dev", "eth0")
        _run("ip", "-n", name, "link", "set", "eth0", "up")
        _run("ip", "-n", name, "link", "set", "lo", "up")
        return host


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
