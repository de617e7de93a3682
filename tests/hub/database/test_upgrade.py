"""While a database with data is upgraded, web processes of the previous version keep reading and writing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hub.database.upgrade import ROWS
from tests.hub.hub_process import running_hub

LONGEST_SECONDS = 5.0  # limit for a request of the old code; long, because other work may share the machine


@pytest.mark.xdist_group("whole hub, data")
def test_old_code_reads_and_writes_during_and_after_the_migration(tmp_path: Path) -> None:
    with running_hub(tmp_path) as hub:
        result = hub.manage("shell", "--no-imports", "-c", "from tests.hub.database.upgrade import main; main()")
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout.splitlines()[-1])
    assert facts["faults"] == []
    assert facts["longest_seconds"] <= LONGEST_SECONDS
    assert ROWS < facts["before"] <= facts["after"] < facts["written"]
    assert set(facts["rows"].values()) == {facts["written"]}
    assert facts["ready"] == 200
