"""An output of `manage.py` that cannot be written is reported as that."""

from __future__ import annotations

import os
import sys

import pytest

from hub.local.command_output import check_output
from hub.local.startup_errors import StartupError


@pytest.fixture
def broken_pipe():
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    with open(writing_end, "w", encoding="utf-8") as stream:
        yield stream


@pytest.mark.parametrize("flushes", [True, False])
def test_a_pipe_that_was_closed_is_named_as_the_output(monkeypatch, broken_pipe, flushes):
    """Also if the text is written only at the end of the command, and if the command has a status of its own."""

    def run_command():
        with check_output():
            print("ok", flush=flushes)
            sys.exit(1)

    monkeypatch.setattr(sys, "stdout", broken_pipe)
    with pytest.raises(StartupError, match="the output cannot be written: Broken pipe"):
        run_command()
    assert sys.stdout is broken_pipe


def test_a_failure_of_another_file_is_not_taken_for_one_of_the_output(monkeypatch, broken_pipe):
    monkeypatch.setattr(sys, "stdout", sys.__stderr__)
    with pytest.raises(BrokenPipeError), check_output():
        print("x", file=broken_pipe, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), broken_pipe.fileno())


def test_a_command_does_its_work_without_an_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with check_output():
        sys.stdout.write("ok")
