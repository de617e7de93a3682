import argparse

import pytest
from support.scripted_hub import ScriptedHub, answer, problem, reset

from affidavit._cli import annotate
from affidavit._cli._hub_options import Undelivered, UsageError
from affidavit._hub.api_keys import make_key

KEY = make_key("gak_")
STORED = answer(201, {"annotationId": "2f6c", "at": 1767225600})


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in ("AFFIDAVIT_HUB", "AFFIDAVIT_API_KEY", "AFFIDAVIT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)


def run(hub, *arguments):
    parser = argparse.ArgumentParser()
    annotate.add_parser(parser.add_subparsers())
    options = parser.parse_args(["annotate", *arguments, "--hub", hub.url, "--key", KEY])
    options.run(options)


def test_only_the_given_options_are_sent(capsys):
    with ScriptedHub(STORED) as hub:
        run(hub, "Deploy 4.2")
        run(hub, "é\x1b", "--at", "1600000000", "--url", "https://h/", "--environment", "qa", "--all-environments")
    assert [request.path for request in hub.received] == ["/api/annotations"] * 2
    assert hub.received[0].json == {"text": "Deploy 4.2"}
    assert hub.received[1].json == {
        "environment": "qa",
        "text": "é\x1b",
        "at": 1600000000,
        "url": "https://h/",
        "allEnvironments": True,
    }
    keys = [request.headers["idempotency-key"] for request in hub.received]
    assert len(set(keys)) == 2
    assert capsys.readouterr().out == "Annotated: Deploy 4.2\nAnnotated: é\\x1b\n"


def test_the_option_once_is_sent_as_the_idempotency_key():
    with ScriptedHub(STORED) as hub:
        for _ in range(2):
            run(hub, "Deploy 4.2", "--once", "pipeline-81")
    assert {request.headers["idempotency-key"] for request in hub.received} == {"pipeline-81"}
    assert len({request.body for request in hub.received}) == 1


@pytest.mark.parametrize("moment", ["2020-09-13T12:26:40Z", "2020-09-13 14:26:40+02:00", "1600000000", "16e8"])
def test_a_time_is_iso_with_a_zone_or_unix_seconds(moment):
    with ScriptedHub(STORED) as hub:
        run(hub, "Deploy", "--at", moment)
    assert hub.received[0].json["at"] == 1600000000


@pytest.mark.parametrize("key", ["a\nb", "Gerät", "Gerät €", "deploy 4.2", "x" * 256, ""])
def test_a_key_of_once_that_the_hub_would_refuse_is_refused_under_the_name_of_the_option(key):
    with ScriptedHub(STORED) as hub, pytest.raises(UsageError, match="--once"):
        run(hub, "Deploy", "--once", key)
    assert hub.received == []


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_is_refused_before_anything_is_sent(text):
    with ScriptedHub(STORED) as hub, pytest.raises(UsageError, match="TEXT is empty"):
        run(hub, text)
    assert hub.received == []


def test_a_key_of_once_that_had_another_text_is_named_as_the_option():
    """The idempotency key comes from the option --once, so the error names this option."""
    refusal = problem(422, "idempotency-key-reused", "Used.")
    with ScriptedHub(refusal) as hub, pytest.raises(UsageError, match="--once: this key was used with another text"):
        run(hub, "Deploy", "--once", "pipeline-81")


def test_a_refusal_is_printed():
    refusal = problem(400, "invalid-request", detail="Write less.")
    with ScriptedHub(refusal) as hub, pytest.raises(Undelivered, match=r"Write less\."):
        run(hub, "x" * 300)


@pytest.mark.parametrize("step", [answer(200, b"<html>", Content_Type="text/html"), answer(200, {"status": "ok"})])
def test_an_answer_that_is_not_from_the_hub_is_reported(step):
    with ScriptedHub(step) as hub, pytest.raises(Undelivered, match="does not come from a hub"):
        run(hub, "Deploy")


@pytest.mark.parametrize(("options", "says_so"), [([], True), (["--once", "pipeline-81"], False)])
def test_without_once_a_failure_says_that_repeating_may_annotate_twice(options, says_so):
    with ScriptedHub(*[reset()] * 20) as hub, pytest.raises(Undelivered, match="No answer from") as failure:
        run(hub, "Deploy", *options)
    assert ("with --once KEY, repeating adds nothing" in str(failure.value)) == says_so


def test_a_connection_that_never_opened_is_not_said_to_have_annotated(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with ScriptedHub() as hub:
        pass  # closed: the connection is refused
    with pytest.raises(Undelivered, match="refused") as failure:
        run(hub, "Deploy")
    assert "may have been recorded" not in str(failure.value)


def test_the_error_for_a_missing_key_names_only_options_of_the_command():
    parser = argparse.ArgumentParser()
    annotate.add_parser(parser.add_subparsers())
    options = parser.parse_args(["annotate", "Deploy"])
    with pytest.raises(UsageError) as refusal:
        options.run(options)
    assert str(refusal.value) == "No API key. Set AFFIDAVIT_API_KEY or pass --key."
