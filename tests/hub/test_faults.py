"""Under load and kill -9 of its processes a hub loses and duplicates nothing (`make faults` is the long form)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.__main__ import format_table
from tests.faults.run import Plan, play


@pytest.mark.xdist_group("whole hub, data")
@pytest.mark.timeout(900)
def test_everything_acknowledged_is_stored_once_and_nothing_refused(tmp_path: Path):
    plan = Plan(kills=6, minutes=0.5, seed=11, clients=3)  # takes up to 90 s if other work shares the machine
    result = play(plan, tmp_path / "hub")
    assert result.is_exact, format_table(result)
    assert not result.surprises, format_table(result)
    assert result.kills
    assert result.rows["outcome"].acknowledged
