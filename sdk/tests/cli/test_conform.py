"""`affidavit conform`: programs that are right, wrong, crash, hang or print garbage, and their scores."""

import itertools
import json
import shlex
import sys

import pytest

from affidavit._cli import conform, main
from affidavit._conformance.vectors import load_vectors

VECTORS = load_vectors()
FEW = [
    *itertools.islice((vector for vector in VECTORS if vector.group == "accepted"), 3),
    *(
        next(vector for vector in VECTORS if vector.group == group)
        for group in ("expired", "args", "canonical", "number")
    ),
]
TIME_LIMIT = 5  # seconds until a program that hangs is stopped, its start included
LONG = 60

LOOP = """
import json, os, sys, time
from pathlib import Path

RIGHT = json.loads(Path({answers!r}).read_text())
{before}
for line in sys.stdin:
    question = json.loads(line)
    number, vector_id = int(question["id"]), question["id"]
    answer = {{"id": vector_id, **RIGHT[number - 1]}}
    {change}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def score(tmp_path, monkeypatch, capsys):
    """Return a function that scores a program against FEW and returns (status, output).

    The program knows the right answers.

    change: a statement of the program that changes `answer` before it is printed.
    before: statements of the program that run before the first question.
    """
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([vector.expected for vector in FEW]))
    monkeypatch.setattr(conform, "load_vectors", lambda: FEW)

    def run(change="pass", before="", time_limit=LONG):
        program = tmp_path / "program.py"
        program.write_text(LOOP.format(answers=str(answers), before=before, change=change))
        command = shlex.join([sys.executable, str(program)])
        status = main(["conform", "--exec", command, "--time-limit", str(time_limit)])
        captured = capsys.readouterr()
        assert captured.err == ""
        return status, captured.out

    return run


def list_failures(output):
    """Return the actual result of each failed vector, by the vector's name."""
    lines = output.splitlines()
    names = [line.removeprefix("FAIL  ") for line in lines if line.startswith("FAIL  ")]
    actual = [line.removeprefix("      actual    ") for line in lines if line.startswith("      actual    ")]
    return dict(zip(names, actual, strict=True))


def test_a_program_that_answers_everything_right_passes(score):
    status, output = score()
    assert status == 0
    assert output.splitlines() == [
        "accepted      3 of    3", "expired       1 of    1", "args          1 of    1", "canonical     1 of    1",
        "number        1 of    1", "7 of 7 vectors pass",
    ]  # fmt: skip


def test_unknown_members_and_numbers_written_otherwise_change_nothing(score):
    status, _ = score("answer['took'] = 1; answer.get('accepted', {}).update(v=2.0) if number == 1 else None")
    assert status == 0


@pytest.mark.parametrize("change", [
    "answer['accepted']['v'] = True", "answer['burnt'] = []", "answer['burnt'] *= 2", "del answer['accepted']",
    "answer['reason'] = 'expired'", "answer['accepted']['sub'] = 9007199254740993", "answer = {'id': '1'}",
])  # fmt: skip
def test_a_wrong_answer_fails_its_vector_alone_and_shows_both_sides(score, change):
    status, output = score(f"if number == 1: {change}")
    assert (status, list(list_failures(output))) == (1, [FEW[0].name])
    assert (
        f"FAIL  {FEW[0].name}\n      {FEW[0].description}\n      expected  {json.dumps(FEW[0].expected)[:400]}"
        in output
    )
    assert "accepted      2 of    3" in output
    assert output.endswith("\n6 of 7 vectors pass\n")


@pytest.mark.parametrize(("change", "fault"), [
    ("sys.exit('on purpose')", "the program ended with status 1: 'on purpose'"),
    ("os.kill(os.getpid(), 9)", "the program was ended by signal 9"),
    ("os.close(1); time.sleep(60)", "the program closed its output"),
    ("sys.stdout.write('{'); sys.exit()", "the program ended with status 0"),
    ("time.sleep(60)", f"no answer within {TIME_LIMIT} s; does the program flush its output after each line?"),
    ("print('x' * 2_000_000)", "a line of output over 1048576 bytes"),
    ("print('Listening \\x1b[31m…')", "a line that is not JSON: 'Listening \\x1b[31m\\u2026'"),
    ("print(json.dumps([answer]))", "a line that is not a JSON object: '[{\"id\": \"3\", "),
    ("answer.pop('id')", "an answer without an id: '{\"accepted\": "),
    ("answer['id'] = '4'", "an answer with the wrong id, where \"3\" was due: '{\"id\": \"4\", "),
    ("answer['id'] = 3", "an answer with the wrong id, where \"3\" was due: '{\"id\": 3, "),
    ("print(json.dumps(answer)[:-1] + ', \"id\": \"3\"}')", "a line that is not JSON: '{\"id\": \"3\", "),
])  # fmt: skip
def test_a_program_that_gives_no_answer_is_started_anew(score, change, fault):
    status, output = score(f"if number == 3: {change}", time_limit=TIME_LIMIT if "sleep" in change else LONG)
    assert (status, list(list_failures(output))) == (1, [FEW[2].name])
    assert list_failures(output)[FEW[2].name].startswith(fault)
    assert output.endswith("\n6 of 7 vectors pass\n")


def test_a_program_that_never_answers_is_given_up(score):
    status, output = score(before="print('Starting', flush=True)")
    assert (status, len(list_failures(output))) == (1, 5)
    assert set(list_failures(output).values()) == {"a line that is not JSON: 'Starting'"}
    assert "No answer 5 times in a row. Not run, and counted as failed: 2 of 7 vectors." in output
    assert output.endswith("\n0 of 7 vectors pass\n")


def test_a_program_that_ends_at_once_is_given_up(score):
    status, output = score(before="sys.exit(3)")
    assert (status, set(list_failures(output).values())) == (1, {"the program ended with status 3"})


@pytest.mark.parametrize(
    "change", ["print('x' * 100_000, file=sys.stderr)", "sys.stderr.buffer.write(b'\\xff\\n' * 9)"]
)
def test_what_a_program_writes_to_its_standard_error_is_ignored(score, change):
    assert score(change)[0] == 0


def test_endless_output_after_the_last_answer_is_ignored(score):
    status, _ = score(
        "if number == 7:\n        print(json.dumps(answer), flush=True)\n        while True: print('y' * 100_000)"
    )
    assert status == 0


@pytest.mark.parametrize(("command", "message"), [
    ("/no/such/program --x", "The program cannot be started: No such file or directory."),
    ("/", "The program cannot be started: Permission denied."),
    ("", "--exec is empty. Give the program and its arguments."),
    ("'x", "--exec cannot be split into words: No closing quotation."),
])  # fmt: skip
def test_a_command_that_cannot_be_started_is_wrong_usage(capsys, command, message):
    assert main(["conform", "--exec", command]) == 2
    assert capsys.readouterr().err == f"affidavit: {message}\n"


@pytest.mark.parametrize(("system", "command", "words"), [
    ("nt", r"C:\tools\verifier.exe --file C:\x\y", [r"C:\tools\verifier.exe", "--file", r"C:\x\y"]),
    ("nt", r"""'C:\Program Files\v.exe' "a b" '#'""", [r"C:\Program Files\v.exe", "a b", "#"]),
    ("posix", r"""/opt/my\ verifier --x "a \" b" '#' #c""", ["/opt/my verifier", "--x", 'a " b', "#", "#c"]),
])  # fmt: skip
def test_a_backslash_separates_folders_on_windows_and_escapes_elsewhere(system, command, words):
    assert conform.split_command(command, system) == words


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_limit_is_a_number_above_0(capsys, seconds):
    with pytest.raises(SystemExit) as ended:
        main(["conform", "--exec", "cat", "--time-limit", seconds])
    assert ended.value.code == 2
    assert "give a number of seconds above 0" in capsys.readouterr().err


def test_every_vector_has_a_name_of_its_own_and_no_question_gives_its_answer_away():
    assert len({vector.name for vector in VECTORS}) == len(VECTORS)
    for vector in VECTORS:
        assert not {"id", "description", "expected", *vector.expected} & {*vector.question}, vector.name
