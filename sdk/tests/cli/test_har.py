import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
import uuid

import pytest
from any_machine import subprocess_environment
from support.scripted_hub import ScriptedHub, answer, problem, silent

from affidavit._cli import main
from affidavit._hub.api_keys import make_key

KEY = make_key("gak_")
ACCEPTED = answer(202, {"accepted": 1, "reportId": "x"})
SECRETS = ["hunter2-in-a-body", "ann@example.com", "8861543", "query-value-7", "ZmFuY3kgdG9rZW4gdmFsdWU5"]


def entry(method="GET", path="/orders", status=200, body=None, posted=None, day=2):
    request = {"method": method, "url": f"https://api.example.com{path}"}
    if posted is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(posted)}
    content = {"mimeType": "application/json", "text": json.dumps(body)} if body is not None else {}
    response = {"status": status, "content": content}
    return {"startedDateTime": f"2026-01-{day:02}T03:04:05Z", "request": request, "response": response}


TRAFFIC = [
    entry("POST", "/orders", 201, {"id": 8861543}, posted={"note": SECRETS[0], "email": SECRETS[1]}),
    entry("GET", "/orders/8861543?page=query-value-7", 200, {"id": 8861543, "tags": []}),
    entry("GET", "/orders/8861544", 200, {"id": 8861544, "tags": ["a"]}, day=3),
    entry("GET", "/orders/8861545", 404, {"error": "gone"}),
    entry("GET", "/wp-login.php", 404),
    entry("DELETE", f"/sessions/{SECRETS[4]}", 204),
    entry("GET", "/aborted", 0),
    {**entry(), "request": {"method": "GET", "url": "wss://api.example.com/live"}},
    {**entry(), "request": {"method": "GET", "url": "data:text/plain,x"}},
]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in ("AFFIDAVIT_HUB", "AFFIDAVIT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def write_har(tmp_path):
    def write(entries=TRAFFIC, name="traffic.har"):
        path = tmp_path / name
        path.write_text(json.dumps({"log": {"entries": entries}}))
        return str(path)

    return write


def sent_observations(hub):
    return [observation for request in hub.received for observation in request.json["observations"]]


# --- sending


def test_a_file_is_sent_as_shapes_and_the_message_counts_everything(write_har, capsys):
    with ScriptedHub(ACCEPTED) as hub:
        assert main(["har", write_har(), "--hub", hub.url, "--key", KEY, "--environment", "staging"]) == 0
    (request,) = hub.received
    assert request.path == "/api/witness-reports"
    assert request.headers["x-service-api-key"] == KEY
    assert request.json["environment"] == "staging"
    assert sum(observation["count"] for observation in sent_observations(hub)) == 5
    assert capsys.readouterr().out == (
        "Sent 5 observations of 3 operations, refused none. "
        "Skipped 3 entries: 1 WebSocket, 1 not HTTP, 1 without an answer. "
        "Held back 1 observation whose path may hold a value; --send-undecided sends them.\n"
    )


def test_no_value_of_the_file_is_sent_or_printed(write_har, capsys):
    with ScriptedHub(ACCEPTED) as hub:
        main(["har", write_har(), "--hub", hub.url, "--key", KEY])
    main(["har", write_har(), "--dry-run"])
    output = capsys.readouterr()
    seen = hub.received[0].body.decode() + output.out + output.err
    assert [secret for secret in SECRETS if secret in seen] == []


def test_key_and_hub_come_from_the_environment_variables_too(write_har, monkeypatch):
    with ScriptedHub(ACCEPTED) as hub:
        monkeypatch.setenv("AFFIDAVIT_HUB", hub.url)
        monkeypatch.setenv("AFFIDAVIT_API_KEY", KEY)
        assert main(["har", write_har()]) == 0
    assert hub.received[0].headers["x-service-api-key"] == KEY
    assert hub.received[0].json["environment"] == "production"


def test_production_by_its_name_and_by_default_is_one_environment_and_counts_once(write_har):
    path = write_har()
    with ScriptedHub(ACCEPTED) as hub:
        for options in ([], ["--environment", "production"]):
            assert main(["har", path, "--hub", hub.url, "--key", KEY, *options]) == 0
    assert len({request.body for request in hub.received}) == 1


def test_the_same_file_gives_the_same_bytes_and_ids_again_also_when_packed(write_har, tmp_path):
    packed = tmp_path / "packed.har.gz"
    with ScriptedHub(ACCEPTED) as hub:
        path = write_har()
        with open(path, "rb") as plain:
            packed.write_bytes(gzip.compress(plain.read()))
        for file in (path, path, str(packed)):
            assert main(["har", file, "--hub", hub.url, "--key", KEY]) == 0
        assert main(["har", path, "--hub", hub.url, "--key", KEY, "--environment", "staging"]) == 0
    *same, other = hub.received
    assert len({request.body for request in same}) == 1
    assert uuid.UUID(same[0].json["reportId"]) != uuid.UUID(other.json["reportId"])


def test_a_refusal_is_one_line_and_exit_status_1(write_har, capsys):
    with ScriptedHub(problem(403, "scope-missing", "Make a key with the scope report.")) as hub:
        assert main(["har", write_har(), "--hub", hub.url, "--key", KEY]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert "Make a key with the scope report. (scope-missing, HTTP 403)" in output.err
    assert "Sent 0 of 5 observations, not sent 5." in output.err
    assert KEY not in output.err


def test_a_refusal_in_the_middle_reports_how_much_was_sent(write_har, capsys):
    traffic = [entry(path="/things", status=200 + n % 25, body={}, day=1 + n // 25) for n in range(700)]
    with ScriptedHub(ACCEPTED, problem(400, "invalid-request", "Look.")) as hub:
        assert main(["har", write_har(traffic), "--hub", hub.url, "--key", KEY]) == 1
    assert "Sent 500 of 700 observations, not sent 200." in capsys.readouterr().err


# --- learned templates and undecided paths


NAMED = [
    entry("GET", "/teams/storm", 200, {"name": "storm", "members": 4}),
    entry("GET", "/teams/reef", 200, {"name": "reef", "members": 2}),
    entry("GET", "/lounges/marie/seats", 200, {"seats": 4}),
    entry("GET", "/lounges/marie/seats", 404),
]


def test_templates_are_learned_from_the_whole_file_before_any_is_used(write_har):
    with ScriptedHub(ACCEPTED) as hub:
        assert main(["har", write_har(NAMED), "--hub", hub.url, "--key", KEY]) == 0
    (observation,) = sent_observations(hub)
    assert (observation["path"], observation["count"]) == ("/teams/{teamId}", 2)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_path_that_may_hold_a_value_is_held_back_counted_and_listed(write_har, capsys, dry_run):
    with ScriptedHub(ACCEPTED) as hub:
        options = ["--dry-run"] if dry_run else ["--hub", hub.url, "--key", KEY]
        assert main(["har", write_har(NAMED), *options]) == 0
        assert b"marie" not in b"".join(request.body for request in hub.received)
    output = capsys.readouterr()
    assert "marie" not in output.out
    assert "2 observations of 1 operation" in output.out + output.err
    assert (
        "Held back 2 observations whose path may hold a value; --send-undecided sends them." in output.out + output.err
    )
    assert "  GET /lounges/[marie]/seats  (a value with a probability of " in output.err
    assert output.err.count("/lounges/") == 1


def test_send_undecided_sends_the_path_with_the_index_of_its_segment(write_har, capsys):
    with ScriptedHub(ACCEPTED) as hub:
        assert main(["har", write_har(NAMED), "--hub", hub.url, "--key", KEY, "--send-undecided"]) == 0
    paths = [(observation["path"], observation.get("undecided")) for observation in sent_observations(hub)]
    assert paths == [("/teams/{teamId}", None)] + [("/lounges/marie/seats", [1])] * 2
    assert "Held back" not in capsys.readouterr().out


def test_undecided_paths_can_be_sent_later_and_the_rest_keeps_its_report_ids(write_har):
    with ScriptedHub(ACCEPTED) as hub:
        for options in ([], ["--send-undecided"]):
            assert main(["har", write_har(NAMED), "--hub", hub.url, "--key", KEY, *options]) == 0
    first, *again = [json.loads(request.body) for request in hub.received]
    assert first["observations"] == [again[0]["observations"][0]]
    assert [report["reportId"] for report in again].count(first["reportId"]) == 1
    assert [len(report["observations"]) for report in again] == [1, 2]


def test_at_most_fifty_held_back_paths_are_listed(write_har, capsys):
    names = [f"{first}{second}q" for first in "bcdfghklmn" for second in "aeiouy"]
    _, errors = dry(capsys, write_har([entry(path=f"/halls/{name}", status=204) for name in names]))
    assert errors.count("  GET /halls/[") == 50
    assert errors.endswith("  and 10 more\n")


# --- wrong usage and broken files


def test_without_a_key_nothing_is_read_and_the_line_says_how_to_give_one(write_har, capsys):
    assert main(["har", write_har()]) == 2
    assert capsys.readouterr().err == (
        "affidavit: No API key. Set AFFIDAVIT_API_KEY or pass --key; --dry-run needs none.\n"
    )


@pytest.mark.parametrize("options", [["--key", make_key("pk_")], ["--key", KEY, "--hub", "hub.example.com"]])
def test_an_invalid_key_or_address_is_wrong_usage(write_har, capsys, options):
    assert main(["har", write_har(), *options]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("options", [[], ["har"], ["har", "a", "b"], ["har", "a", "--bogus"], ["nothing"]])
def test_wrong_usage_exits_with_2(options):
    with pytest.raises(SystemExit) as caught:
        main(options)
    assert caught.value.code == 2


@pytest.mark.parametrize("cut", [0, 1, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_off_sends_nothing(write_har, capsys, cut):
    path = write_har(TRAFFIC * 50)
    os.truncate(path, int(cut * os.path.getsize(path)) if cut < 1 else os.path.getsize(path) - 1)
    with ScriptedHub(ACCEPTED) as hub:
        assert main(["har", path, "--hub", hub.url, "--key", KEY]) == 2
        assert hub.received == []
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"affidavit: {path} is ")
    assert output.err.count("\n") == 1


# --- dry run


def dry(capsys, path, *options):
    assert main(["har", path, "--dry-run", *options]) == 0
    output = capsys.readouterr()
    return json.loads(output.out), output.err


def test_a_dry_run_prints_the_catalog_and_sends_nothing(write_har, capsys):
    catalog, errors = dry(capsys, write_har())
    assert catalog["environment"] == "production"
    assert [(o["path"], o["method"]) for o in catalog["operations"]] == [
        ("/orders", "POST"),
        ("/orders/{orderId}", "GET"),
        ("/sessions/{sessionId}", "DELETE"),
    ]
    assert errors.startswith("Dry run of 5 observations of 3 operations: nothing was sent. Skipped 3 entries")


def test_an_operation_of_a_dry_run_sums_its_days_and_keeps_its_statuses_apart(write_har, capsys):
    catalog, _ = dry(capsys, write_har(), "--environment", "staging")
    assert catalog["environment"] == "staging"
    operation = catalog["operations"][1]
    times = ["firstSeenAt", "lastSeenAt"]
    assert list(operation) == [
        *["method", "path", "observations"], *times, *["parameters", "query", "request", "responses"],
        "responseMediaTypes",
    ]  # fmt: skip
    assert operation["observations"] == 3
    assert (operation["firstSeenAt"], operation["lastSeenAt"]) == (1_767_323_045, 1_767_409_445)
    assert operation["parameters"]["orderId"]["type"] == "integer"
    assert operation["query"]["properties"]["page"]["type"] == "string"
    assert operation["request"] is None
    assert set(operation["responses"]) == {"200", "404"}
    ok = operation["responses"]["200"]
    assert ok["seen"] == 2
    assert ok["properties"]["tags"]["items"]["type"] == "string"


def test_an_answer_without_a_body_is_listed_without_a_shape(write_har, capsys):
    catalog, _ = dry(capsys, write_har())
    assert catalog["operations"][2]["responses"] == {"204": {"type": "unknown", "reason": "empty", "seen": 0}}


@pytest.mark.parametrize("status", [404, 405, 501])
def test_an_error_status_counts_only_for_an_operation_that_also_succeeded(write_har, capsys, status):
    lost_entry, good_entry = entry(path="/orders", status=status, body={}), entry(path="/orders", body={})
    assert dry(capsys, write_har([lost_entry]))[0]["operations"] == []
    (operation,) = dry(capsys, write_har([lost_entry, good_entry]))[0]["operations"]
    assert operation["observations"] == 2


@pytest.mark.parametrize("longest", ["/a" * 100, ("/" + "o" * 39) * 50], ids=["segments", "bytes"])
def test_a_path_longer_than_the_hub_accepts_is_skipped(write_har, capsys, longest):
    both = write_har([entry(path=longest), entry(path=f"{longest}/a")])
    catalog, errors = dry(capsys, both, "--send-undecided")
    assert [operation["path"] for operation in catalog["operations"]] == [longest]
    assert "Skipped 1 entry: 1 too large." in errors


def test_bodies_left_out_are_counted_by_reason(write_har, capsys):
    image = entry()
    image["response"]["content"] = {"mimeType": "image/png", "text": "iVBORw0=", "encoding": "base64"}
    broken = entry()
    broken["response"]["content"] = {"mimeType": "application/json", "text": "{"}
    catalog, errors = dry(capsys, write_har([image, broken, image]))
    assert catalog["operations"][0]["observations"] == 3
    assert "Left out 3 bodies: 2 not JSON by their type, 1 not valid JSON." in errors


# --- as a process


def start_cli(*arguments, env_more=None, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "affidavit", *arguments],
        env=subprocess_environment(**(env_more or {})),
        text=True,
        # A test run in the background ignores Ctrl-C, and the processes that it starts would ignore it too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def test_ctrl_c_ends_with_130_and_one_line(write_har):
    with ScriptedHub(silent(20)) as hub:
        process = start_cli("har", write_har(), "--hub", hub.url, "--key", KEY, stderr=subprocess.PIPE)
        while not hub.received:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "affidavit: interrupted.\n")


def test_a_closed_output_pipe_causes_no_traceback(write_har):
    process = start_cli("har", write_har(TRAFFIC * 200), "--dry-run", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert errors.splitlines()[-1] == "affidavit: the output cannot be written: Broken pipe."
    assert "Traceback" not in errors


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_under_the_output_is_one_line(write_har):
    with open("/dev/full", "w") as full:
        process = start_cli("har", write_har(), "--dry-run", stdout=full, stderr=subprocess.PIPE)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.splitlines()[-1] == "affidavit: the output cannot be written: No space left on device."
    assert "Traceback" not in errors


def test_names_beyond_ascii_can_be_printed_even_if_the_terminal_is_ascii(write_har, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    process = start_cli("har", write_har([entry(body={"naïve": 1})]), "--dry-run", stdout=subprocess.PIPE)
    printed, _ = process.communicate(timeout=60)
    assert "naïve" in json.loads(printed)["operations"][0]["responses"]["200"]["properties"]


def test_a_har_can_come_through_a_pipe(write_har):
    with open(write_har(), "rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
    process = start_cli("har", "/dev/stdin", "--dry-run", stdin=cat.stdout, stdout=subprocess.PIPE)
    cat.stdout.close()
    printed, _ = process.communicate(timeout=60)
    assert cat.wait() == process.returncode == 0
    assert len(json.loads(printed)["operations"]) == 3


def test_a_har_from_a_pipe_leaves_no_temporary_copy_and_errors_name_the_pipe(tmp_path):
    process = start_cli(
        "har", "/dev/stdin", "--dry-run",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env_more={"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    _, errors = process.communicate('{"log": {"entries": [', timeout=60)
    assert process.returncode == 2
    assert errors == "affidavit: /dev/stdin is cut off. Export it again.\n"
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_there_is_no_progress_bar(write_har):
    process = start_cli("har", write_har(), "--dry-run", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, errors = process.communicate(timeout=60)
    assert "Reading" not in errors
    assert "\x1b" not in errors


def read_terminal(path, columns):
    """Return what `affidavit har --dry-run` writes to a terminal for errors of this width."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = start_cli("har", path, "--dry-run", stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    errors = b""
    try:
        while piece := os.read(ours, 1000):
            errors += piece
    except OSError:  # a terminal raises this once the other side has closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return errors.decode()


def test_on_a_terminal_a_progress_bar_is_drawn_and_wiped(write_har):
    bar, _, rest = read_terminal(write_har(TRAFFIC * 2000), 80).rpartition("\r\x1b[K")
    assert "Learning" in bar
    assert "Reading" in bar
    assert " %" in bar
    assert rest.startswith("Dry run of")


@pytest.mark.parametrize("columns", [10, 20, 44])
def test_a_progress_bar_fits_on_a_narrow_terminal(write_har, columns):
    bars, _, _ = read_terminal(write_har(TRAFFIC * 2000), columns).rpartition("\r\x1b[K")
    drawn = [bar.removesuffix("\x1b[K") for bar in bars.split("\r")]
    assert any(" %" in bar for bar in drawn)
    assert max(map(len, drawn)) < columns


# --- hosts


def test_several_hosts_are_listed_and_one_can_be_chosen(write_har, capsys):
    entries = [entry(), entry(path="/orders/1"), entry(path="/orders/2")]
    entries[0]["request"]["url"] = "https://cdn.example.com/tracker"
    path = write_har(entries)
    assert main(["har", path, "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines()[1:4] == [
        "Read 2 hosts as one API; --host NAME reads one of them:", "  api.example.com  2", "  cdn.example.com  1"
    ]  # fmt: skip
    assert main(["har", path, "--dry-run", "--host", "API.example.com"]) == 0
    printed = capsys.readouterr()
    assert "Skipped 1 entry: 1 of other hosts." in printed.err
    assert "hosts as one API" not in printed.err
    assert "tracker" not in printed.out


def test_a_host_cannot_write_control_characters_to_the_terminal(write_har, capsys):
    entries = [entry(), entry()]
    entries[0]["request"]["url"] = "https://a\x1bcb.example.com/orders"
    assert main(["har", write_har(entries), "--dry-run"]) == 0
    assert "  a\\x1bcb.example.com  1" in capsys.readouterr().err.splitlines()


def test_an_answer_cannot_write_control_characters_to_the_terminal(write_har, capsys):
    with ScriptedHub(problem(400, "invalid-request", "Look \x1bc here.")) as hub:
        assert main(["har", write_har(), "--hub", hub.url, "--key", KEY]) == 1
    assert "Look \\x1bc here." in capsys.readouterr().err


def test_an_empty_host_is_refused_and_does_not_mean_all_hosts(write_har, capsys):
    with ScriptedHub(ACCEPTED) as hub:
        assert main(["har", write_har(), "--hub", hub.url, "--key", KEY, "--host", ""]) == 2
    assert hub.received == []
    assert "--host is empty. Is the variable that you pass set?" in capsys.readouterr().err


@pytest.mark.parametrize(("url", "shown"), [
    ("https://api.example.com/orders", "api.example.com"), ("https://API.example.com:443/orders", "api.example.com"),
    ("http://api.example.com:80/orders", "api.example.com"),
    ("http://api.example.com:443/orders", "api.example.com:443"),
    ("https://api.example.com:/orders", "api.example.com"), ("https://[2001:db8::5]:443/orders", "[2001:db8::5]"),
])  # fmt: skip
def test_the_usual_port_is_no_part_of_a_host_and_may_be_named(write_har, capsys, url, shown):
    entries = [entry(path="/carts"), entry()]
    entries[0]["request"]["url"] = "https://cdn.example.com/carts"
    entries[1]["request"]["url"] = url
    path = write_har(entries)
    assert main(["har", path, "--dry-run"]) == 0
    assert f"  {shown}  1" in capsys.readouterr().err.splitlines()
    name = shown.removesuffix(":443")
    for host in (name, f"{name}:{80 if url.startswith('http:') and shown == name else 443}"):
        assert main(["har", path, "--dry-run", "--host", host]) == 0
        assert [operation["path"] for operation in json.loads(capsys.readouterr().out)["operations"]] == ["/orders"]


def test_the_usual_port_of_the_other_scheme_is_another_host(write_har, capsys):
    assert main(["har", write_har([entry()]), "--dry-run", "--host", "api.example.com:80"]) == 2
    assert "has nothing of the host api.example.com:80" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["api.exmaple.com", "https://api.example.com", "api.example.com:8443"])
def test_a_host_that_the_file_does_not_have_is_refused(write_har, capsys, host):
    path = write_har([entry()])
    assert main(["har", path, "--dry-run", "--host", "api.example.com", "--host", host]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{path} has nothing of the host {host}; without --host the command lists its hosts." in printed.err
    assert main(["har", path, "--dry-run", "--host", host]) == 2
