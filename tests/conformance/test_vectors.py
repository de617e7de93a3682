"""The committed vectors: the SDK and a verifier in another language pass them, and the generator reproduces them."""

import json
import shutil
import struct
import subprocess
from base64 import b64decode
from pathlib import Path

import pytest

from affidavit._canonical import canonical_json, number_text
from affidavit._intents.args import InvalidArgs, request_args
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.reasons import REASONS
from affidavit._intents.verifier import IntentRejected, IntentVerifier
from affidavit._json import parse
from conformance.cases.canonical import NUMBER_SIGNER
from conformance.cases.interpreters import find_interpreter
from conformance.generate import FOLDER, build_documents, format_document

VERIFIER = Path(__file__).with_name("verifier.mjs")

INTENTS, ARGS, CANONICAL = (
    json.loads((FOLDER / name).read_bytes()) for name in ("intents.json", "args.json", "canonical.json")
)
SIGNERS = sorted({NUMBER_SIGNER, *(vector["signer"] for vector in INTENTS["vectors"] if "signer" in vector)})
MANY_YEARS = 1e12


class Nonces(MemoryNonces):
    """A nonce store that records what it burns."""

    def __init__(self, burnt):
        super().__init__(several_workers=True)
        for workspace, nonce in burnt:
            super().burn(workspace, nonce, MANY_YEARS, now=0)
        self.newly_burnt = []

    def burn(self, workspace, nonce, expires_at, *, now):
        fresh = super().burn(workspace, nonce, expires_at, now=now)
        self.newly_burnt += [(workspace, nonce)] if fresh else []
        return fresh


def verifier(facts, nonces):
    secrets = facts["secrets"]
    return IntentVerifier(
        secrets=secrets.get if isinstance(secrets, dict) else secrets,
        workspace=facts["workspace"],
        audience=facts["audience"],
        nonces=nonces,
        max_lifetime=facts["maxLifetime"],
        accept_v1=True if facts["v1Until"] is None else facts["v1Until"],
        minimum_version=facts["minimumVersion"],
        step_up=lambda _, request: request["stepUp"],
        now=lambda: facts["now"],
    )


def outcome(subject, request):
    try:
        intent = subject.verify(
            request["header"],
            request["method"],
            request["path"],
            request["query"],
            b64decode(request["bodyBase64"]),
            request["contentType"],
            operation=request["operation"],
            raw_path=request["rawPath"],
            content_encoding=request["contentEncoding"],
            request=request,
        )
    except IntentRejected as rejection:
        return {"reason": rejection.reason}
    return {"accepted": intent.payload}


def named(cases):
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases])


@named(INTENTS["vectors"])
def test_a_request_ends_as_its_vector_says(case):
    facts, request = ({**INTENTS["defaults"][part], **case.get(part, {})} for part in ("verifier", "request"))
    nonces = Nonces(case.get("burntNonces", []))
    subject = verifier(facts, nonces)
    assert outcome(subject, request) == case["expected"]
    payload = case["expected"].get("accepted", {})
    assert nonces.newly_burnt == ([(payload["tenantId"], payload["nonce"])] if "v" in payload else [])
    if "v" in payload:
        assert outcome(subject, request) == {"reason": "replayed"}


def test_every_reason_has_a_vector_and_no_vector_another_reason():
    assert {vector["expected"].get("reason") for vector in INTENTS["vectors"]} == {None, *REASONS}


@pytest.mark.parametrize("file", [INTENTS["vectors"], ARGS["cases"], CANONICAL["values"]])
def test_each_vector_has_a_name_of_its_own(file):
    assert len({case["id"] for case in file}) == len(file)


@named(ARGS["cases"])
def test_arguments_hash_as_their_vector_says(case):
    request = case["request"]
    try:
        args_hash = request_args(
            b64decode(request["bodyBase64"]),
            request["contentType"],
            request["query"],
            content_encoding=request["contentEncoding"],
        ).hash
    except InvalidArgs:
        args_hash = None
    assert args_hash == case["hash"]


@named(CANONICAL["values"])
def test_a_value_has_the_canonical_form_of_its_vector(case):
    text = case["input"].encode()
    if case["canonical"] is None:
        with pytest.raises(InvalidArgs):
            request_args(text or b" ", "application/json")
    else:
        assert canonical_json(parse(text)) == case["canonical"].encode()


def test_doubles_are_written_as_ecmascript_writes_them():
    doubles = [struct.unpack(">d", bytes.fromhex(number["bits"]))[0] for number in CANONICAL["numbers"]]
    assert [number_text(double) for double in doubles] == [number["text"] for number in CANONICAL["numbers"]]


def test_the_generator_writes_the_committed_files_byte_for_byte():
    generated = dict(build_documents())
    assert set(generated) == {path.name for path in FOLDER.glob("*.json")}
    for name, document in generated.items():
        assert format_document(document).encode() == (FOLDER / name).read_bytes(), name
    missing = [signer for signer in SIGNERS if find_interpreter(signer) is None]
    if missing:
        pytest.skip(f"all the rest is equal; no interpreter here for: {', '.join(missing)}")


def test_a_verifier_written_from_the_contract_in_another_language_agrees():
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node here")
    run = subprocess.run([node, VERIFIER, FOLDER], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    total = sum(map(len, (INTENTS["vectors"], ARGS["cases"], CANONICAL["values"], CANONICAL["numbers"])))
    assert run.stdout == f"{total} of {total} vectors pass\n"
