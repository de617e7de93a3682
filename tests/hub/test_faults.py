"""Under load and kill -9 of its processes a hub loses nothing and doubles nothing (`make faults`: the long form)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.__main__ import format_table
from tests.faults.run import Plan, play


@pytest.mark.xdist_group("whole hub")
@pytest.mark.timeout(900)
def test_all_that_was_acknowledged_is_there_once_and_nothing_that_was_refused(tmp_path: Path):
    plan = Plan(kills=6, minutes=0.5, seed=11, clients=3)  # in 90 s, also if other work shares the machine
    result = play(plan, tmp_path / "hub")
    assert result.is_exact, format_table(result)
    assert not result.surprises, format_table(result)
    assert result.kills
    assert result.rows["outcome"].acknowledged
