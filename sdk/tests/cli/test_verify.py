import io
import json

import pytest
from support.signed_calls import AUDIENCE, SECRET, WORKSPACE, sign_call, sign_v1_call

from affidavit import REASONS
from affidavit._cli import main
from affidavit._intents.check_descriptions import CHECKS

ARGS = {"isbn": "978", "qty": 2}
NOW = 1_800_000_000
OPTIONS = ["--workspace", WORKSPACE, "--audience", AUDIENCE, "--at", str(NOW)]
UNKNOWABLE = "Only your backend's store knows"


@pytest.fixture
def verify(tmp_path, monkeypatch, capsys):
    """Return a function that runs `affidavit verify` on a POST of ARGS and returns (status, output, errors)."""
    monkeypatch.setenv("AFFIDAVIT_SIGNING_SECRET", SECRET)
    body = tmp_path / "body.json"
    body.write_bytes(json.dumps(ARGS).encode())

    def run(header, *options, method="POST", path="/orders", body=body):
        header_options = ["--header", header] if header is not None else []
        body_options = ["--body-file", str(body)] if body else []
        status = main(
            ["verify", *OPTIONS, "--method", method, "--path", path, *body_options, *header_options, *options]
        )
        captured = capsys.readouterr()
        assert SECRET not in captured.out + captured.err
        return status, captured.out, captured.err

    return run


def marks(output: str) -> list[tuple[str, str]]:
    """Return mark and title of each check."""
    return [(line[:4].strip(), line[6:]) for line in output.splitlines() if not line.startswith(" ")]


def test_every_check_of_a_good_call_is_shown_in_order_with_signed_and_actual_value(verify):
    status, output, _ = verify(sign_call("POST /orders", ARGS, now=NOW))
    assert (status, [title for _, title in marks(output)]) == (0, list(CHECKS.values()))
    assert [mark for mark, _ in marks(output)] == ["ok"] * 10 + ["n/a"]
    for side in (WORKSPACE, AUDIENCE, "POST /orders", "version 2", "2027-01-15T08:00:00Z", UNKNOWABLE):
        assert side in output
    assert "978" not in output


def test_the_first_failure_shows_both_values_its_reason_and_the_usual_fix(verify):
    status, output, _ = verify(sign_call("POST /orders/", ARGS, now=NOW))
    assert status == 1
    assert [mark for mark, _ in marks(output)] == ["ok"] * 7 + ["FAIL", "ok", "ok", "n/a"]
    assert "signed  POST /orders/\n" in output
    assert "actual  POST /orders\n" in output
    text = " ".join(output.split())
    assert "operation-mismatch: " in text
    assert REASONS["operation-mismatch"].usual_fix in text


@pytest.mark.parametrize(("header", "options", "reason"), [
    ("", (), "missing-header"),
    ("nonsense!", (), "malformed"),
    (sign_call("POST /orders", ARGS, now=NOW - 1000), (), "expired"),
    (sign_call("POST /orders", ARGS, now=NOW), ("--audience", "elsewhere"), "audience-mismatch"),
    (sign_call("POST /orders", ARGS, now=NOW), ("--workspace", "ws_elsewhere"), "tenant-mismatch"),
    (sign_call("POST /orders", ARGS, now=NOW), ("--content-type", "text/plain"), "args-mismatch"),
    (sign_call("POST /orders", ARGS, now=NOW), ("--operation", "orders.create"), "operation-mismatch"),
    (sign_call("POST /orders", ARGS, now=NOW, requires_step_up=True), (), "step-up-required"),
    (sign_call("POST /orders", ARGS, now=NOW, requires_step_up=True), ("--step-up",), None),
    (sign_call("orders.create", ARGS, now=NOW), ("--operation", "orders.create"), None),
    (sign_v1_call("POST", "/orders", now=NOW), (), None),
    (sign_v1_call("POST", "/orders", now=NOW), ("--minimum-version", "2"), "unsupported-version"),
])  # fmt: skip
def test_the_output_names_the_reason(verify, header, options, reason):
    status, output, _ = verify(header, *options)
    assert status == (0 if reason is None else 1)
    assert reason is None or f"      {reason}: " in output


def test_a_header_may_be_given_with_its_name(verify):
    header = sign_call("POST /orders", ARGS, now=NOW)
    assert verify(f"x-service-intent: {header}")[0] == 0


@pytest.mark.parametrize("path", ["orders", "https://shop.example/orders", ""])
def test_the_error_for_a_value_that_is_not_a_path_names_the_option(verify, path):
    status, _, errors = verify(sign_call("POST /orders", ARGS, now=NOW), path=path)
    assert (status, "--path is the path of the request" in errors) == (2, True)


def test_the_name_of_a_workspace_is_not_taken_for_its_id(verify):
    status, _, errors = verify(sign_call("POST /orders", ARGS, now=NOW), "--workspace", "my-shop")
    assert (status, "begins with ws_" in errors) == (2, True)


def test_a_fault_that_is_a_question_ends_without_a_full_stop(verify, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_SIGNING_SECRET", "gas_short")
    status, _, errors = verify(sign_call("POST /orders", ARGS, now=NOW))
    assert (status, errors.endswith("was it cut off?\n")) == (2, True)


@pytest.mark.parametrize("option", ["workspace", "audience"])
def test_a_missing_fact_of_the_backend_is_named_with_its_option_and_variable(verify, monkeypatch, option):
    monkeypatch.delenv(f"AFFIDAVIT_{option.upper()}", raising=False)
    status, _, errors = verify(sign_call("POST /orders", ARGS, now=NOW), f"--{option}", "")
    assert (status, f"Set AFFIDAVIT_{option.upper()}, or pass --{option}" in errors) == (2, True)


def test_the_query_is_given_after_the_path(verify):
    header = sign_call("GET /orders", {"page": "2"}, now=NOW)
    assert verify(header, method="GET", path="/orders?page=2", body=None)[0] == 0
    assert verify(header, method="GET", path="/orders?page=3", body=None)[0] == 1


def test_the_secret_may_be_in_a_file_or_another_variable(verify, tmp_path, monkeypatch):
    header = sign_call("POST /orders", ARGS, now=NOW)
    monkeypatch.delenv("AFFIDAVIT_SIGNING_SECRET")
    file = tmp_path / "secret"
    file.write_text(SECRET + "\n")
    assert verify(header, "--secret-file", str(file))[0] == 0
    monkeypatch.setenv("OTHER", SECRET)
    assert verify(header, "--secret-env", "OTHER")[0] == 0
    assert "--secret-env is empty" in verify(header, "--secret-env", "")[2]
    assert verify(header)[::2] == (
        2, "affidavit: No signing secret. Set AFFIDAVIT_SIGNING_SECRET, or pass --secret-file.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "moment", ["nan", "inf", "-inf", "1e999", "yesterday", "", "2026-01-01", "2026-01-01T10:00", "2026-13-01T10:00Z"]
)
def test_a_text_that_is_no_time_or_names_no_zone_is_wrong_usage(verify, capsys, moment):
    with pytest.raises(SystemExit) as ended:
        verify(sign_call("POST /orders", ARGS, now=NOW), f"--at={moment}")
    assert ended.value.code == 2
    assert "--at: give Unix seconds, or a time with its zone such as 2030-01-31T10:00Z" in capsys.readouterr().err


def test_there_is_no_option_that_takes_a_secret(verify):
    with pytest.raises(SystemExit):
        verify("x", "--secret", "x")


def test_the_header_may_come_from_a_file_or_standard_input(verify, tmp_path, monkeypatch):
    header = sign_call("POST /orders", ARGS, now=NOW)
    file = tmp_path / "header"
    file.write_text(header + "\r\n")
    assert verify(None, "--header-file", str(file))[0] == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(header.encode())))
    assert verify(None, "--header-file", "-")[0] == 0
    assert verify(None, "--header-file", "-", body="-")[0] == 2


def test_a_byte_order_mark_at_the_beginning_of_a_file_is_no_part_of_the_secret_or_the_header(verify, tmp_path):
    secret_file, header_file = tmp_path / "secret", tmp_path / "header"
    secret_file.write_text(f"{SECRET}\r\n", "utf-8-sig")
    header_file.write_text(sign_call("POST /orders", ARGS, now=NOW) + "\r\n", "utf-8-sig")
    assert verify(None, "--header-file", str(header_file), "--secret-file", str(secret_file))[0] == 0
    header_file.write_text("X-Service-Intent: " + sign_call("POST /orders", ARGS, now=NOW), "utf-8-sig")
    assert verify(None, "--header-file", str(header_file))[0] == 0


@pytest.mark.parametrize("secret", ["gas_qqqq", "gas_ " + "a" * 40])
def test_a_weak_secret_is_wrong_usage_and_is_not_repeated(verify, monkeypatch, secret):
    monkeypatch.setenv("AFFIDAVIT_SIGNING_SECRET", secret)
    status, output, error = verify("x")
    assert (status, output) == (2, "")
    assert secret not in error


def test_a_file_that_cannot_be_read_is_wrong_usage(verify, tmp_path):
    assert verify("x", body=tmp_path / "absent")[0] == 2
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff")
    assert verify(None, "--header-file", str(binary))[0] == 2


def test_control_characters_in_the_payload_do_not_reach_the_terminal(verify):
    _, output, _ = verify(sign_call("POST /\x1b[2J\u202eorders", ARGS, now=NOW))
    assert "\\x1b[2J\\u202eorders" in output
    assert "\x1b" not in output


def test_an_encoded_body_has_no_hash(verify):
    header = sign_call("POST /orders", ARGS, now=NOW)
    status, output, _ = verify(header, "--content-encoding", "gzip")
    assert (status, "args-mismatch: the body has a Content-Encoding" in " ".join(output.split())) == (1, True)
