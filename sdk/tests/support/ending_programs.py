"""Programs with all three reporters that end in different ways, and the number of items that a hub received."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from any_machine import subprocess_environment

from affidavit import make_key

from .scripted_hub import Handler, ScriptedHub, answer

KEY = make_key("gak_")
REPORTERS = """
import os, sys
from affidavit import OutcomeReporter, VerificationReports, Witness
where = {"base_url": os.environ["HUB"]}
outcomes = OutcomeReporter(os.environ["KEY"], flush_every=60, **where)
verifications = VerificationReports(os.environ["KEY"], every=60, **where)
witness = Witness(os.environ["KEY"], interval=3600, **where)

def work(times=1):
    for _ in range(times):
        outcomes.report("c", "k")
        verifications.add("accepted", operation="GET /x")
        witness.observe("GET", "/x", 200, route="/x")
"""


def take_all(handler: Handler) -> None:
    """Answer as a hub that stores everything."""
    request = handler.server.received[-1]
    body = request.json if request.body else {}
    stored = {"recorded": len(body.get("outcomes", ())), "unknownConversations": []}
    answer(200, {"rules": [], "accepted": 1, **stored})(handler)


def count_items(hub: ScriptedHub) -> dict[str, int]:
    """Return how many outcomes, verifications and observed requests the hub received."""
    counts = {"outcomes": 0, "verifications": 0, "observations": 0}
    for request in hub.received:
        for name in counts:
            for item in request.json.get(name, ()) if request.body else ():
                counts[name] += item.get("count", 1)
    return counts


def all_three(count: int) -> dict[str, int]:
    return {"outcomes": count, "verifications": count, "observations": count}


class Program:
    """A Python process that reports to a hub.

    `with Program(hub, folder, ["-m", "gunicorn", …], app=SOURCE) as program:` writes `app.py` into the folder, and runs
    the command there.
    """

    def __init__(self, hub: ScriptedHub | str, folder: Path, command: Sequence[str], *, app: str = "") -> None:
        self.port = _choose_port()
        (folder / "app.py").write_text(REPORTERS + app)
        self._log = folder / "log.txt"
        environment = subprocess_environment(KEY=KEY, HUB=hub if isinstance(hub, str) else hub.url, HOME=str(folder))
        arguments = [part.replace("PORT", str(self.port)) for part in command]
        quiet = ["-W", "ignore::DeprecationWarning"]  # Python 3.12 warns each time a process with threads forks
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *quiet, *arguments], cwd=folder, env=environment, stdout=log, stderr=log
            )

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def request(self, times: int) -> None:
        """Send requests, the first as soon as the server listens."""
        deadline = time.monotonic() + 30
        while times:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/orders", timeout=10) as response:
                    response.read()
                times -= 1
            except ConnectionError as error:
                self._wait_longer(deadline, error)
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionError):
                    raise AssertionError(self.log) from error
                self._wait_longer(deadline, error)

    def wait_for(self, text: str) -> None:
        """Wait until the program has printed the text."""
        deadline = time.monotonic() + 30
        while text not in self.log:
            self._wait_longer(deadline, None)

    def terminate(self) -> int:
        """Send SIGTERM and return the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def _wait_longer(self, deadline: float, cause: Exception | None) -> None:
        if time.monotonic() > deadline or self.process.poll() is not None:
            raise AssertionError(self.log) from cause
        time.sleep(0.05)


def _choose_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
