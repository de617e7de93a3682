"""An upgrade with data in place leaves the web processes of the version before reading and writing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hub.running import running_hub
from tests.hub.upgrade import ROWS

LONGEST_SECONDS = 5.0  # of a request of the old code, at most; generous, because other work may share the machine


@pytest.mark.xdist_group("whole hub")
def test_the_code_before_reads_and_writes_while_the_database_is_migrated_and_afterwards(tmp_path: Path) -> None:
    with running_hub(tmp_path) as hub:
        result = hub.manage("shell", "--no-imports", "-c", "from tests.hub.upgrade import main; main()")
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout.splitlines()[-1])
    assert facts["faults"] == []
    assert facts["longest_seconds"] <= LONGEST_SECONDS
    assert ROWS < facts["before"] <= facts["after"] < facts["written"]
    assert set(facts["rows"].values()) == {facts["written"]}
    assert facts["ready"] == 200
