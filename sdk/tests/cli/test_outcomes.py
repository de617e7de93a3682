import argparse
import errno
import json
import os
from functools import partial
from pathlib import Path

import pytest
from support.scripted_hub import ScriptedHub, answer, problem, reset

from affidavit._cli import outcomes
from affidavit._cli._hub_options import Undelivered, UsageError
from affidavit._hub import transport
from affidavit._hub.api_keys import make_key

KEY = make_key("gak_")


def all_recorded(handler):
    count = len(handler.server.received[-1].json["outcomes"])
    answer(200, {"recorded": count, "unknownConversations": []})(handler)


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in ("AFFIDAVIT_HUB", "AFFIDAVIT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments):
    parser = argparse.ArgumentParser()
    outcomes.add_parser(parser.add_subparsers())
    options = parser.parse_args(["outcomes", *map(str, arguments)])
    options.run(options)


def upload(path, hub, *arguments):
    run(path, "--hub", hub.url, "--key", KEY, *arguments)


@pytest.fixture
def csv_file(tmp_path):
    def write(count=1200, name="outcomes.csv"):
        path = tmp_path / name
        rows = "".join(f"{n},c{n},purchase\n" for n in range(count))
        path.write_text("order,conversationId,outcomeKey\n" + rows)
        return path

    return write


def read_items(hub):
    return [tuple(item.values()) for request in hub.received for item in request.json["outcomes"]]


def test_a_csv_file_goes_out_in_batches_in_order(csv_file, capsys):
    path = csv_file()
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub, "--environment", "staging")
    assert [len(request.json["outcomes"]) for request in hub.received] == [500, 500, 200]
    assert read_items(hub) == [(f"c{n}", "purchase") for n in range(1200)]
    assert hub.received[0].json["environment"] == "staging"
    assert capsys.readouterr().out.splitlines()[1:] == ["Sent 1200 outcomes, 1200 recorded."]
    assert list(path.parent.iterdir()) == [path]


def test_a_column_that_is_not_sent_may_hold_a_long_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"conversationId,outcomeKey,transcript\nc-1,purchase,{'hello ' * 50_000}\n")
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert read_items(hub) == [("c-1", "purchase")]


def test_json_lines_and_csv_keep_strange_texts_exactly(tmp_path):
    strange = [(" a ", 'q"uote'), ("😀", "line\nbreak"), ("=1+1", "é,;"), ("'; --", "\t")]
    lines = tmp_path / "x.jsonl"
    lines.write_text("\n".join(json.dumps({"conversationId": a, "outcomeKey": b, "x": 1}) for a, b in strange) + "\n\n")
    table = tmp_path / "x.csv"
    quoted = ['"{}","{}"'.format(*(text.replace('"', '""') for text in pair)) for pair in strange]
    table.write_bytes(("\ufeffconversationId,outcomeKey\r\n" + "\r\n".join(quoted)).encode())
    for path in (lines, table):
        with ScriptedHub(all_recorded) as hub:
            upload(path, hub)
        assert read_items(hub) == strange


def test_a_file_that_is_sent_again_has_the_same_idempotency_keys(csv_file):
    path = csv_file()
    with ScriptedHub(all_recorded) as hub:
        for _ in range(2):
            upload(path, hub)
    keys = [request.headers["idempotency-key"] for request in hub.received]
    assert keys[:3] == keys[3:]
    assert len(set(keys)) == 3


def test_equal_batches_at_different_places_of_a_file_are_different_reports(tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("conversationId,outcomeKey\n" + "c,k\n" * 1000)
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert len({request.headers["idempotency-key"] for request in hub.received}) == 2


def test_an_interrupted_upload_continues_where_it_stopped(csv_file, capsys):
    path = csv_file()
    with ScriptedHub(all_recorded, problem(403, "scope-missing", "Make a key with the scope report.")) as hub:
        with pytest.raises(
            Undelivered, match="Sent 500 outcomes so far; correct that, then run the command again to continue"
        ):
            upload(path, hub)
        hub.server.steps = [all_recorded]
        upload(path, hub)
        assert [item[0] for item in read_items(hub)[1000:]] == [f"c{n}" for n in range(500, 1200)]
    assert "Sent 1200 outcomes, 1200 recorded. 500 outcomes had been sent before." in capsys.readouterr().out


def test_a_file_that_changed_after_the_interruption_is_sent_from_the_beginning(csv_file):
    path = csv_file()
    with ScriptedHub(all_recorded, problem(400, "unknown-environment", "No.")) as hub:
        with pytest.raises(Undelivered):
            upload(path, hub)
        path.write_text(path.read_text().replace(",c7,", ",c7b,"))
        hub.received.clear()
        hub.server.steps = [all_recorded]
        upload(path, hub)
        assert len(read_items(hub)) == 1200


def test_an_upload_with_another_key_starts_over_because_it_may_be_of_another_workspace(csv_file):
    path = csv_file()
    with ScriptedHub(all_recorded, problem(403, "scope-missing", "No.")) as hub:
        with pytest.raises(Undelivered):
            upload(path, hub)
        hub.received.clear()
        hub.server.steps = [all_recorded]
        run(path, "--hub", hub.url, "--key", make_key("gak_"))
        assert len(read_items(hub)) == 1200


def test_a_progress_that_cannot_be_stored_leaves_no_file(csv_file, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = csv_file(3)
    monkeypatch.setattr(Path, "replace", fail)
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert len(read_items(hub)) == 3
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "[]", "{}", "nonsense", '{"target": 1, "items": "x"}'])
def test_an_unreadable_progress_file_is_ignored(csv_file, content):
    path = csv_file(3)
    path.with_name("outcomes.csv.progress").write_text(content)
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert len(read_items(hub)) == 3


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "conversationId,outcomeKey\nc,k\n,k\nd\n", ["line 3: conversationId", "line 4: outcomeKey"]),
        ("a.csv", f"conversationId,outcomeKey\n{'x' * 256},k\n", ["line 2", "1 to 255"]),
        ("a.csv", 'conversationId,outcomeKey\n"two\nlines",k\n,k\n', ["line 4"]),
        ("a.csv", "conversation,key\nc,k\n", ["a.csv: the first line", "missing: conversationId, outcomeKey"]),
        ("a.csv", "", ["missing: conversationId"]),
        (
            "a.csv",
            'conversationId,outcomeKey\nc,k\n"d","k\ne,k\n',
            ["line 3 cannot be read as CSV", "Look there for a quote"],
        ),
        ("a.csv", '\nconversationId,outcomeKey\n\n"d"x,k\n', ["line 4 cannot be read as CSV"]),
        ("a.csv", '\n"conversationId"x,outcomeKey\n', ["line 2 cannot be read as CSV"]),
        ("a.jsonl", '{"conversationId": "c", "outcomeKey": "k"}\nnope\n[]\n', ["line 2: not JSON", "line 3: not an"]),
        ("a.jsonl", '{"conversationId": 7, "outcomeKey": "k"}', ["line 1: conversationId"]),
        ("a.jsonl", '{"conversationId": "a", "conversationId": "b", "outcomeKey": "k"}', ["duplicate-name"]),
        ("a.txt", "", ["give a .csv or a .jsonl file"]),
    ],
)
def test_faults_are_reported_with_their_lines_and_nothing_is_sent(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with ScriptedHub(all_recorded) as hub, pytest.raises(UsageError) as caught:
        upload(path, hub)
    assert [part for part in message if part not in str(caught.value)] == []
    assert hub.received == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "conversationId,outcomeKey,outcomeKey\nc,k,l\n", ["names a column twice: outcomeKey."]),
        ("a.csv", "conversationId, conversationId ,outcomeKey\nc,d,k\n", ["names a column twice: conversationId."]),
        ("a.csv", "conversationId,environment,outcomeKey\nc,staging,k\n", ["column for", "with --environment"]),
        ("a.csv", "Environment,conversationId,outcomeKey\nstaging,c,k\n", ["column for", "with --environment"]),
        ("a.csv", "conversationId,outcomeKey\nc,k\nc,x,k\n", ["line 3: has 3 cells, but the first line 2.", "quotes"]),
        ("a.jsonl", '{"conversationId": "c", "outcomeKey": "k"}\n'
         '{"conversationId": "c", "outcomeKey": "k", "environment": "staging"}', ["line 2: an", "with --environment"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("options", [(), ("--environment", "staging")], ids=["unnamed", "named"])
def test_a_file_with_a_faulty_line_is_refused_completely(tmp_path, name, text, message, options):
    path = tmp_path / name
    path.write_text(text)
    with ScriptedHub(all_recorded) as hub, pytest.raises(UsageError) as caught:
        upload(path, hub, *options)
    assert [part for part in message if part not in str(caught.value)] == []
    assert "staging" not in str(caught.value)
    assert hub.received == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "order,conversationId,,outcomeKey,amount\x1b,order\n1,c,,k,5\n2,d,,k,5\n"),
        ("a.jsonl", '{"conversationId": "c", "outcomeKey": "k", "order": 1}\n'
         '{"conversationId": "d", "order": 2, "amount\\u001b": 5, "outcomeKey": "k"}'),
    ],
)  # fmt: skip
def test_the_names_of_ignored_columns_are_printed_once(tmp_path, capsys, name, text):
    path = tmp_path / name
    path.write_text(text)
    message = r"Ignored: 'order', 'amount\x1b'. Only conversationId and outcomeKey are sent."
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert capsys.readouterr().out.splitlines() == [message, "Sent 2 outcomes, 2 recorded."]
    run(path, "--dry-run")
    assert capsys.readouterr().out.splitlines()[0] == message


def test_a_dry_run_says_that_a_good_file_is_in_order(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("conversationId,outcomeKey\nc,k\n")
    run(path, "--dry-run")
    assert capsys.readouterr().out == "Dry run of 1 outcome: nothing was sent; the file has no faults.\n"


def test_only_the_first_ignored_names_are_printed(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    item = {"conversationId": "c", "outcomeKey": "k"}
    path.write_text("\n".join(json.dumps({**item, f"n{number}": 1}) for number in range(5000)))
    run(path, "--dry-run")
    assert "'n9' and more. Only" in capsys.readouterr().out


def test_very_many_faults_are_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("conversationId,outcomeKey\n" + ",k\n" * 500)
    with pytest.raises(UsageError, match="and 490 more lines"):
        run(path, "--dry-run")


def test_a_file_that_is_missing_or_not_utf_8_gives_one_clear_error_line(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes(b"conversationId,outcomeKey\nc,caf\xe9\n")
    for file, message in ((path, "not UTF-8"), (tmp_path / "none.csv", "cannot be read: No such file")):
        with pytest.raises(UsageError, match=message):
            run(file, "--dry-run")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_because_a_file_is_read_twice(tmp_path):
    path = tmp_path / "a.csv"
    os.mkfifo(path)
    with pytest.raises(UsageError, match=r"a\.csv cannot be read: it is no regular file\."):
        run(path, "--dry-run")


def test_empty_cells_after_the_last_column_are_ignored(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("conversationId;outcomeKey\nc;k;;\n")
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert read_items(hub) == [("c", "k")]


@pytest.mark.parametrize(("status", "code", "advises"), [(403, "scope-missing", False), (503, "unavailable", True)])
def test_running_again_at_once_is_advised_only_after_a_temporary_failure(csv_file, monkeypatch, status, code, advises):
    monkeypatch.setattr(transport, "Retry", partial(transport.Retry, attempts=1))
    with ScriptedHub(*[problem(status, code, "Why.")] * 9) as hub, pytest.raises(Undelivered) as caught:
        upload(csv_file(1), hub)
    assert str(caught.value).endswith("Sent 0 outcomes so far; run the command again to continue.") is advises
    assert ("correct that" in str(caught.value)) is not advises


def test_an_empty_key_is_not_replaced_by_the_variable(csv_file, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_API_KEY", KEY)
    with ScriptedHub(all_recorded) as hub, pytest.raises(UsageError, match="--key is empty"):
        run(str(csv_file(1)), "--hub", hub.url, "--key", "")
    assert hub.received == []


def test_a_refused_item_is_reported_by_its_line(csv_file):
    faults = [{"pointer": "/outcomes/2/outcomeKey", "code": "invalid", "detail": "Wrong."}]
    step = problem(400, "invalid-request", "Look.", errors=faults)
    with ScriptedHub(all_recorded, step) as hub, pytest.raises(Undelivered, match=r"At fault: line 504\."):
        upload(csv_file(), hub)


def test_unknown_conversations_are_counted(csv_file, capsys):
    with ScriptedHub(answer(200, {"recorded": 3, "unknownConversations": ["c3"]})) as hub:
        upload(csv_file(4), hub)
    assert "Sent 4 outcomes, 3 recorded. 1 named a conversation that is not known" in capsys.readouterr().out


def test_a_dry_run_needs_no_key_and_sends_nothing(csv_file, capsys):
    run(csv_file(4), "--dry-run")
    assert "Dry run of 4 outcomes: nothing was sent" in capsys.readouterr().out


def test_a_broken_connection_is_tried_again_with_the_same_bytes(csv_file):
    with ScriptedHub(reset(), all_recorded) as hub:
        upload(csv_file(2), hub)
    assert len({(request.headers["idempotency-key"], request.body) for request in hub.received}) == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_any_spreadsheet_s_delimiter_and_blank_lines_are_read(tmp_path, delimiter):
    path = tmp_path / "x.csv"
    quoted = '"c,;\t2"'
    rows = [[""], ["  "], ["order", "conversationId", "outcomeKey"], ["1", "c1", "purchase"], [""], ["", "", ""]]
    rows += [["2", quoted, "renewal"], [""]]
    path.write_bytes("\r\n".join(delimiter.join(row) for row in rows).encode())
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert read_items(hub) == [("c1", "purchase"), ("c,;\t2", "renewal")]


@pytest.mark.parametrize("text", [
    'conversationId;outcomeKey;"Amount, net, in EUR"\nc,1;k;5\n',
    'conversationId\toutcomeKey\tprice, tax; in EUR; net\nc,1\tk\t5\n',
    'order, first; second;conversationId;outcomeKey\nx;y;c,1;k\n',
    '"a;b;c;d",conversationId,outcomeKey\n1,"c,1",k\n',
    '"conversationId";"Amount,\nnet, in EUR";"outcomeKey"\n"c,1";"5";"k"\n',
])  # fmt: skip
def test_delimiters_in_the_names_of_other_columns_do_not_split_the_file(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with ScriptedHub(all_recorded) as hub:
        upload(path, hub)
    assert read_items(hub) == [("c,1", "k")]


def test_line_numbers_count_blank_lines_before_the_header(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("\n\nconversationId;outcomeKey\n\nc1;\n")
    with pytest.raises(UsageError, match="line 5: outcomeKey is missing"):
        run(path, "--dry-run")
