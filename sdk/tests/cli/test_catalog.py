import gzip
import os
import socket

import pytest
from support.scripted_hub import Handler, ReceivedRequest, ScriptedHub, answer, problem, raw, reset

from affidavit._cli import main
from affidavit._hub.api_keys import make_key

KEY = make_key("gak_")
BODY = b'{"environment": "production", "operations": [\n]}\n'


def catalog(body=BODY, etag='"v1"', **headers):
    return answer(200, body, **{"ETag": etag, "Content-Type": "application/json", **headers})


@pytest.fixture(autouse=True)
def _hub_that_is_read(monkeypatch):
    def do_get(handler):
        headers = {name.lower(): value for name, value in handler.headers.items()}
        handler.server.received.append(ReceivedRequest("GET", handler.path, headers, b"", handler.client_address[1]))
        handler.server.next_step()(handler)

    monkeypatch.setattr(Handler, "do_GET", do_get, raising=False)
    for name in ("AFFIDAVIT_HUB", "AFFIDAVIT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "catalog.json"


def pull(hub, file, *options):
    return main(["catalog", "pull", str(file), "--hub", hub.url, "--key", KEY, *options])


def test_a_first_pull_writes_the_file_and_says_that_it_has_changed(file, capsys):
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, file, "--environment", "staging") == 3
    assert file.read_bytes() == BODY
    (request,) = hub.received
    assert request.path == "/api/catalog?environment=staging&evidence=0"
    assert request.headers["x-service-api-key"] == KEY
    assert "if-none-match" not in request.headers
    assert capsys.readouterr().out == f"{file} has changed.\n"
    assert sorted(path.name for path in file.parent.iterdir()) == ["catalog.json", "catalog.json.etag"]


def test_the_hub_may_have_an_ipv6_address_without_a_port(file, monkeypatch):
    addresses = []
    monkeypatch.setattr(socket, "create_connection", lambda address, *_, **__: addresses.append(address) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["catalog", "pull", str(file), "--hub", "http://[2001:db8::5]", "--key", KEY])
    assert addresses == [("2001:db8::5", 80)]


def test_an_empty_environment_is_refused_and_does_not_mean_production(file, capsys):
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, file, "--environment", "") == 2
    assert (hub.received, file.exists()) == ([], False)
    assert "--environment is empty. Is the variable that you pass set?" in capsys.readouterr().err


def test_a_second_pull_asks_with_the_etag_and_leaves_the_file_alone(file, capsys):
    with ScriptedHub(catalog(), answer(304)) as hub:
        pull(hub, file)
        before = file.stat().st_mtime_ns
        assert pull(hub, file) == 0
    assert hub.received[1].headers["if-none-match"] == '"v1"'
    assert file.stat().st_mtime_ns == before
    assert capsys.readouterr().out.endswith("is up to date.\n")


def test_a_changed_catalog_replaces_the_file_and_its_etag(file):
    body = b'{"operations": []}'
    with ScriptedHub(catalog(), catalog(body, '"v2"'), answer(304)) as hub:
        assert [pull(hub, file) for _ in range(3)] == [3, 3, 0]
    assert file.read_bytes() == body
    assert hub.received[2].headers["if-none-match"] == '"v2"'


def test_a_pull_keeps_a_link_and_the_permissions_of_the_file(file, tmp_path):
    real_file = tmp_path / "shared" / "api.json"
    real_file.parent.mkdir()
    real_file.write_bytes(b"{}")
    real_file.chmod(0o640)
    file.symlink_to(real_file)
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, file) == 3
    assert file.is_symlink()
    assert real_file.read_bytes() == BODY
    assert real_file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in real_file.parent.iterdir()) == ["api.json"]


def test_something_that_is_no_regular_file_is_never_replaced(file, capsys):
    os.mkfifo(file)
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, file) == 2
        assert hub.received == []
    assert file.is_fifo()
    assert f"{file} cannot be written: it is no regular file." in capsys.readouterr().err


@pytest.mark.parametrize(
    "length",
    [b"Content-Length: 99", b"Content-Length: " + b"9" * 15, b"Content-Length: " + b"9" * 40,
     b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 16],
)  # fmt: skip
def test_a_length_that_is_not_true_is_a_broken_answer(file, capsys, length):
    with ScriptedHub(raw(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n\r\n{}")) as hub:
        assert pull(hub, file) == 1
    assert "No whole answer" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no /dev/fd")
def test_an_output_is_refused_even_if_it_leads_to_a_regular_file(file, capsys):
    with open(file, "wb") as output, ScriptedHub(catalog()) as hub:
        assert pull(hub, f"/dev/fd/{output.fileno()}") == 2
        assert hub.received == []
    assert "cannot be written: it is no regular file." in capsys.readouterr().err


def test_the_same_bytes_under_another_etag_are_no_change(file):
    with ScriptedHub(catalog(), catalog(etag='"v2"')) as hub:
        assert [pull(hub, file) for _ in range(2)] == [3, 0]


@pytest.mark.parametrize("spoil", ["edit", "delete", "etag"])
def test_a_file_that_was_changed_after_its_pull_is_pulled_again(file, spoil):
    with ScriptedHub(catalog(), catalog()) as hub:
        pull(hub, file)
        if spoil == "edit":
            file.write_bytes(b"edited")
        elif spoil == "delete":
            file.unlink()
        else:
            file.with_name("catalog.json.etag").write_text("nonsense")
        assert pull(hub, file) == (0 if spoil == "etag" else 3)
    assert "if-none-match" not in hub.received[1].headers
    assert file.read_bytes() == BODY


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (["--form", "openapi"], "/api/catalog/openapi.json"),
        (["--form", "schemas", "--evidence"], "/api/catalog/schemas.json"),
        (["--form", "mcp"], "/api/catalog/mcp.json"),
        (["--form", "tools", "--environment", "a b"], "/api/catalog/tools.json?environment=a+b"),
        (["--evidence"], "/api/catalog"),
    ],
)
def test_every_format_is_pulled_from_its_own_address(file, options, path):
    with ScriptedHub(catalog()) as hub:
        pull(hub, file, *options)
    assert hub.received[0].path == path


@pytest.mark.parametrize(
    "step",
    [
        problem(403, "scope-missing", "Make a key with the scope report."),
        answer(302, b"", Location="http://127.0.0.1:1/"),
        answer(200, b"<html>", ETag='"v1"', Content_Type="text/html"),
        answer(200, BODY, Content_Type="application/json"),
        catalog(BODY[:20]),  # a proxy that cut it off
        catalog(gzip.compress(BODY), Content_Encoding="gzip"),
        catalog(b'{"status": "ok"}'),
        catalog(hang_up=True, **{"Content-Length": "99"}),
        reset(),
        raw(b"nonsense\r\n\r\n"),
    ],
)
def test_after_any_failure_the_file_is_unchanged_and_one_line_explains_it(file, capsys, step):
    file.write_bytes(b"as it was")
    with ScriptedHub(step) as hub:
        assert pull(hub, file) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert KEY not in output.err
    assert "stored" not in output.err
    assert [path.name for path in file.parent.iterdir()] == ["catalog.json"]
    assert file.read_bytes() == b"as it was"


def test_a_folder_that_does_not_exist_is_wrong_usage(tmp_path, capsys):
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, tmp_path / "nowhere" / "catalog.json") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_folder_in_place_of_the_file_is_wrong_usage(tmp_path, capsys):
    folder = tmp_path / "catalog.json"
    folder.mkdir()
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, folder) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_text_that_names_no_file_is_wrong_usage(capsys, name):
    with ScriptedHub(catalog()) as hub:
        assert pull(hub, name) == 2
    assert hub.received == []
    assert "FILE names no file. Is the variable that you pass set?" in capsys.readouterr().err


def test_without_a_key_no_request_is_sent(file, capsys):
    with ScriptedHub(catalog()) as hub:
        assert main(["catalog", "pull", str(file), "--hub", hub.url]) == 2
    assert hub.received == []
