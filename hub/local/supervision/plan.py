"""The plan of programs to run: `manage.py up` writes it, and reads it after it has become the supervisor."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NoReturn

from hub.local.supervision.stop_signals import STOP_SIGNALS


@dataclass(frozen=True)
class Command:
    """A process to start.

    variables: the variables that it gets besides those of the present process.
    stdin: the text that it reads from standard input.
    """

    name: str
    arguments: Sequence[str]
    variables: Mapping[str, str]
    folder: str
    stdin: str = ""

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.variables}


@dataclass(frozen=True)
class Plan:
    """The processes of a hub.

    programs: the processes that are kept running.
    side_processes: the processes that start once, when the web server answers.
    """

    data_dir: str
    has_own_database: bool
    host: str
    port: int
    ready_line: str
    log_level: int
    ballast_bytes: int
    programs: Sequence[Command]
    side_processes: Sequence[Command] = field(default_factory=list)


def become_supervisor(plan: Plan) -> NoReturn:
    """Replace this process by the supervisor of a plan.

    The plan may hold keys, so it is passed in a file without a name. Signals to stop wait until the supervisor
    handles them.
    """
    file = tempfile.TemporaryFile("w+")  # noqa: SIM115  # this process becomes another, which closes it
    json.dump(asdict(plan), file)
    file.flush()
    file.seek(0)
    os.set_inheritable(file.fileno(), True)
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    # The last two words have no effect: with them, `ps` shows `manage.py up` as before.
    arguments = [sys.executable, "-m", "hub.local.supervision", str(file.fileno()), "manage.py", "up"]
    os.execve(sys.executable, arguments, {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def read_plan(descriptor: int) -> Plan:
    with os.fdopen(descriptor) as file:
        facts = json.load(file)
    for name in ("programs", "side_processes"):
        facts[name] = [Command(**command) for command in facts[name]]
    return Plan(**facts)
