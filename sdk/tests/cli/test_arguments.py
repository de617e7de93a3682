"""What all commands share: arguments that are no text, and an output that is closed or lacks some characters."""

import io
import os
import subprocess
import sys

import pytest
from any_machine import subprocess_environment
from support.scripted_hub import Handler, ScriptedHub, answer

from affidavit._cli import main
from affidavit._hub.api_keys import make_key

KEY = make_key("gak_")
NO_TEXT = "caf\udce9"  # how Python passes on the byte E9 of Latin-1
VERIFY = ["verify", "--header", "x", "--method", "POST", "--path", "/"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AFFIDAVIT_API_KEY", KEY)
    for name in ("AFFIDAVIT_HUB", "AFFIDAVIT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("arguments", "name"), [
    (["annotate", NO_TEXT], "TEXT"), (["annotate", "x", "--url", NO_TEXT], "--url"),
    (["catalog", "pull", "x", "--environment", NO_TEXT], "--environment"),
    (["tools", "lock", "--environment", NO_TEXT], "--environment"),
    (["har", "x.har", "--host", "a", "--host", NO_TEXT], "--host"), ([*VERIFY, "--operation", NO_TEXT], "--operation"),
    ([*VERIFY, "--content-type", NO_TEXT], "--content-type"),
])  # fmt: skip
def test_an_argument_that_is_not_utf_8_is_wrong_usage_and_nothing_is_sent(arguments, name, capsys):
    with ScriptedHub(answer(200)) as hub:
        options = [] if arguments[0] == "verify" else ["--hub", hub.url]
        assert main([*arguments, *options]) == 2
    assert hub.received == []
    assert capsys.readouterr().err == f"affidavit: {name} is not text in UTF-8. Check the encoding of your terminal.\n"


def test_an_environment_variable_that_is_not_utf_8_is_wrong_usage(monkeypatch, capsys):
    monkeypatch.setenv("AFFIDAVIT_ENVIRONMENT", NO_TEXT)
    assert main(["catalog", "pull", "x"]) == 2
    assert "--environment is not text in UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "name"), [
    (["outcomes", "", "--dry-run"], "FILE"), (["har", "", "--dry-run"], "FILE"), (["tools", "verify", ""], "FILE"),
    (["tools", "lock", ""], "FILE"), (["catalog", "pull", ""], "FILE"), ([*VERIFY, "--body-file", ""], "--body-file"),
    ([*VERIFY, "--secret-file", ""], "--secret-file"),
])  # fmt: skip
def test_an_empty_name_of_a_file_is_called_that(arguments, name, capsys):
    assert main(arguments) == 2
    expected = f"affidavit: {name} names no file. Is the variable that you pass set?\n"
    assert capsys.readouterr() == ("", expected)


@pytest.mark.parametrize("command", [["catalog", "pull"], ["tools", "lock"]])
def test_a_dash_is_refused_where_it_would_become_the_name_of_a_file(command, tmp_path, capsys):
    with ScriptedHub(answer(200, {"tools": []})) as hub:
        assert main([*command, "-", "--hub", hub.url]) == 2
    assert (hub.received, list(tmp_path.iterdir())) == ([], [])
    assert capsys.readouterr().err == "affidavit: - cannot be written: name a file; - is not standard output here.\n"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are text there")
def test_a_file_whose_name_is_not_utf_8_is_written_and_named(monkeypatch):
    monkeypatch.setattr(
        Handler, "do_GET", lambda handler: answer(200, {"tools": []}, Content_Type="application/json")(handler),
        raising=False,
    )  # fmt: skip
    with ScriptedHub() as hub:
        command = [sys.executable, "-m", "affidavit", "tools", "lock", NO_TEXT, "--hub", hub.url, "--key", KEY]
        done = subprocess.run(command, env=subprocess_environment(), capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"caf\\udce9: locked 0 tools of production.\n"
    assert os.listdir() == [NO_TEXT]


def test_a_character_that_the_output_cannot_carry_is_escaped(monkeypatch):
    output = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", output)
    with ScriptedHub(answer(201, {"annotationId": "x"})) as hub:
        assert main(["annotate", "Выпуск 4.2", "--hub", hub.url]) == 0
    assert output.buffer.getvalue() == "Annotated: Выпуск 4.2\n".encode("cp1252", "backslashreplace")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_command_does_its_work_without_an_output(closed, tmp_path):
    (tmp_path / "x.csv").write_text("conversationId,outcomeKey\nc-1,purchase\n")
    with ScriptedHub(answer(200, {"recorded": 1, "unknownConversations": []})) as hub:
        script = f'exec "$0" -m affidavit outcomes x.csv --hub "$1" --key "$2" {closed}'
        command = ["sh", "-c", script, sys.executable, hub.url, KEY]
        done = subprocess.run(command, env=subprocess_environment(), capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stderr, len(hub.received)) == (0, b"", 1)
    assert done.stdout == (b"" if ">&-" in closed.split() else b"Sent 1 outcome, 1 recorded.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_an_error_does_not_go_to_the_output_if_there_is_no_output_for_errors():
    script = 'exec "$0" -m affidavit outcomes missing.csv --dry-run 2>&-'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], env=subprocess_environment(), capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("option", ["--header-file", "--body-file"])
def test_a_standard_input_that_is_closed_is_called_that(option, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)  # as Python does after `<&-` of a shell
    header = [] if option == "--header-file" else ["--header", "x"]
    assert main(["verify", "--method", "POST", "--path", "/", *header, option, "-"]) == 2
    assert capsys.readouterr() == ("", "affidavit: - cannot be read: standard input is closed.\n")


class InterruptedArguments(list):
    """Arguments whose reading is interrupted by Ctrl-C."""

    def __iter__(self):
        raise KeyboardInterrupt


def test_ctrl_c_while_the_arguments_are_read_is_no_traceback(capsys):
    assert main(InterruptedArguments()) == 130
    assert capsys.readouterr().err == "affidavit: interrupted.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_a_help_that_cannot_be_written_is_an_error(option):
    environment = subprocess_environment(PYTHONUNBUFFERED="")
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "affidavit", option]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"affidavit: the output cannot be written: No space left on device.\n")
