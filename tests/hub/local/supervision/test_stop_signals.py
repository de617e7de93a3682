"""A command that is asked to stop tidies up first."""

from __future__ import annotations

import signal
import sys

import pytest

import manage
from hub.backup.create import new_file_beside


@pytest.fixture(autouse=True)
def _own_handlers():
    """Keep the test run alive if a command does not handle the signals, and restore the handlers afterwards."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.signal(number, lambda *arguments: None) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_backup_that_is_asked_to_stop_leaves_no_unfinished_file(monkeypatch, tmp_path, number):
    def write_backup(arguments: list[str]) -> None:
        with new_file_beside(tmp_path / "affidavit.backup"):
            signal.raise_signal(number)

    monkeypatch.setattr(sys, "argv", ["manage.py", "help"])
    monkeypatch.setattr(manage, "execute_from_command_line", write_backup)
    with pytest.raises(SystemExit) as caught:
        manage.main()
    assert caught.value.code == 128 + number
    assert list(tmp_path.iterdir()) == []
