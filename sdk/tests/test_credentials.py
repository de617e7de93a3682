"""Keys, secrets, workspaces and audiences are distinguished at construction, and read from the environment."""

import pytest
from support.scripted_hub import ScriptedHub, answer
from support.signed_calls import AUDIENCE, SECRET, WORKSPACE
from support.witness_hub import accept_all

from affidavit import (
    IntentVerifier,
    MemoryNonces,
    Observations,
    OutcomeReporter,
    ReportError,
    VerificationReports,
    Witness,
    make_key,
    report_outcomes,
    send_observations,
    template,
)

KEY = make_key("gak_")
RIGHT = {"secrets": SECRET, "workspace": WORKSPACE, "audience": AUDIENCE}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in ("SIGNING_SECRET", "WORKSPACE", "AUDIENCE", "API_KEY", "HUB", "ENVIRONMENT"):
        monkeypatch.delenv(f"AFFIDAVIT_{name}", raising=False)


def verifier(**facts):
    return IntentVerifier(nonces=MemoryNonces(several_workers=True), **{**RIGHT, **facts})


@pytest.mark.parametrize(("facts", "words"), [
    ({"secrets": KEY}, r"secrets: this is a secret API key \(gak_…\); give a signing secret, which begins with gas_"),
    ({"secrets": WORKSPACE}, "secrets: this is a workspace"),
    ({"secrets": [SECRET, AUDIENCE]}, "secrets: this is an audience"),
    ({"workspace": SECRET}, r"workspace: this is a signing secret \(gas_…\); give a workspace, which begins with ws_"),
    ({"workspace": AUDIENCE}, "workspace: this is an audience"),
    ({"audience": WORKSPACE}, "audience: this is a workspace .*begins with urn:affidavit:"),
    ({"audience": make_key("pk_")}, "audience: this is a publishable API key"),
    ({"secrets": f'"{SECRET}"'}, "secrets: this has quotation marks around it; leave them out"),
    ({"secrets": f"'{SECRET},{SECRET}'"}, "secrets: this has quotation marks"),
    ({"workspace": f'"{WORKSPACE}"'}, "workspace: this has quotation marks"),
    ({"workspace": f"{WORKSPACE}\n"}, "workspace: this has white space or an invisible character"),
    ({"audience": f" {AUDIENCE}"}, "audience: this has white space"),
    ({"secrets": f"\ufeff{SECRET}"}, "secrets: this has white space or an invisible character"),
])  # fmt: skip
def test_a_value_of_another_kind_is_refused_with_an_explanation_and_never_repeated(facts, words):
    with pytest.raises(ValueError, match=words) as caught:
        verifier(**facts)
    for value in facts.values():
        for text in [value] if isinstance(value, str) else value:
            characters = (text.partition("_")[2] or text).strip(" \n'\"")
            assert characters not in str(caught.value)


def test_a_verifier_takes_its_facts_as_keywords():
    with pytest.raises(TypeError):
        IntentVerifier(SECRET, WORKSPACE, AUDIENCE, MemoryNonces())


@pytest.mark.parametrize("make", [OutcomeReporter, Witness, VerificationReports])
@pytest.mark.parametrize(("value", "words"), [
    (SECRET, "this is a signing secret"), (WORKSPACE, "this is a workspace"), (AUDIENCE, "this is an audience"),
    (f'"{SECRET}"', "this has quotation marks"),
])  # fmt: skip
def test_a_value_that_is_no_key_is_refused_with_an_explanation(make, value, words):
    with pytest.raises(ReportError, match=words) as caught:
        make(value)
    assert (caught.value.code, value in str(caught.value)) == ("invalid-api-key", False)


def test_without_a_key_the_variable_is_named():
    with pytest.raises(ReportError, match="AFFIDAVIT_API_KEY"):
        OutcomeReporter()


@pytest.mark.parametrize("environment", ["", 7, "staging\n", '"staging"', "'staging'", "staging\ufeff"])
@pytest.mark.parametrize("make", [
    OutcomeReporter, Witness, VerificationReports,
    lambda key, **options: report_outcomes(key, [], **options),
    lambda key, **options: send_observations([], api_key=key, **options),
])  # fmt: skip
def test_an_environment_that_no_hub_has_is_refused_at_once(make, environment):
    with pytest.raises(ReportError, match="The environment is empty, not text or has white space") as caught:
        make(KEY, environment=environment)
    assert caught.value.code == "invalid-request"


@pytest.mark.parametrize("name", ["x" * 201, "a\0b", "\ud800", 7])
def test_a_name_of_the_program_that_the_hub_refuses_is_refused_at_once(name):
    """The program is the reporter; the hub would refuse its name."""
    with pytest.raises(ReportError, match="at most 200 characters") as caught:
        Witness(KEY, reporter=name)
    assert caught.value.code == "invalid-request"


def test_every_reporter_reads_the_same_variables(monkeypatch):
    with ScriptedHub(accept_all) as hub:
        monkeypatch.setenv("AFFIDAVIT_HUB", hub.url)
        monkeypatch.setenv("AFFIDAVIT_API_KEY", KEY)
        monkeypatch.setenv("AFFIDAVIT_ENVIRONMENT", "staging")
        witness, reports = Witness(), VerificationReports()
        witness.observe("GET", "/x", 200, route="/x")
        reports.add("accepted")
        for reporter in (witness, reports):
            reporter.flush(10)
            reporter.close()
        sent = [request.json for request in hub.received if request.body]
        assert [document["environment"] for document in sent] == ["staging"] * 2
        assert {request.headers["x-service-api-key"] for request in hub.received} == {KEY}
    with ScriptedHub(answer(200, {"recorded": 1, "unknownConversations": [], "accepted": 1, "reportId": "x"})) as hub:
        monkeypatch.setenv("AFFIDAVIT_HUB", hub.url)
        report_outcomes(None, [("c", "k")])
        seen = Observations()
        seen.add("GET", template("/x"), 200, at=1767323045.0)
        send_observations(seen.entries())
        reporter = OutcomeReporter()
        reporter.report("c", "k")
        assert reporter.flush(10)
        assert [request.json["environment"] for request in hub.received] == ["staging"] * 3
