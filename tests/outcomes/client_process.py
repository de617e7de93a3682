"""A customer's process that sends the requests of its plan, records the answers, and continues after being killed.

The arguments are the hub's address, the file of the plan, and the file of the notes. A line of the plan is JSON: an
address and a body. A line of the notes is an answer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.retries import Retry
from affidavit._hub.transport import HttpTransport


def main(hub: str, plan: Path, notes: Path) -> None:
    transport = HttpTransport(hub, 30.0, retry=Retry(attempts=8, first=0.05))
    line_count = len(notes.read_text().splitlines()) if notes.exists() else 0
    with notes.open("a") as file:
        for line in plan.read_text().splitlines()[line_count:]:
            address, body = json.loads(line)
            answer = transport.post_json(address, json.dumps(body).encode(), {KEY_HEADER: os.environ["KEY"]})
            file.write(json.dumps(answer) + "\n")
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
