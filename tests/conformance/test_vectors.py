"""The committed vectors: the SDK and a verifier in another language pass them, and the generator reproduces them."""

import shlex
import shutil
import sys

import pytest

from affidavit._cli import main
from affidavit._conformance.vectors import load_vectors
from affidavit._intents.reasons import REASONS
from conformance.cases.canonical import NUMBER_SIGNER
from conformance.cases.interpreters import find_interpreter
from conformance.generate import FOLDER, build_documents, format_document
from conformance.programs.python import answer_question

PROGRAMS = FOLDER / "programs"
VECTORS = load_vectors()
INTENTS = [vector for vector in VECTORS if vector.question["kind"] == "intent"]


def for_each(vectors):
    return pytest.mark.parametrize("vector", [pytest.param(vector, id=vector.name) for vector in vectors])


@for_each(VECTORS)
def test_the_sdk_answers_as_the_vector_says(vector):
    answer = answer_question(vector.question)
    assert vector.read_answer(answer) == vector.expected
    assert vector.is_answered_by(answer)


@for_each(vector for vector in INTENTS if "burnt" in vector.expected)
def test_an_intent_that_was_accepted_before_is_rejected_as_replayed(vector):
    burnt = [*vector.question["burntNonces"], *vector.expected["burnt"]]
    assert answer_question({**vector.question, "burntNonces": burnt}) == {"reason": "replayed", "burnt": []}


def test_the_vectors_cover_exactly_the_reasons():
    assert {vector.expected.get("reason") for vector in INTENTS} == {None, *REASONS}


def test_the_generator_writes_the_committed_files_byte_for_byte():
    generated = dict(build_documents())
    assert set(generated) == {path.name for path in FOLDER.glob("*.json")}
    for name, document in generated.items():
        assert format_document(document).encode() == (FOLDER / name).read_bytes(), name
    signers = {row["signer"] for row in generated["intents.json"]["vectors"] if "signer" in row}
    missing = [signer for signer in sorted({NUMBER_SIGNER, *signers}) if find_interpreter(signer) is None]
    if missing:
        pytest.skip(f"all the rest is equal; no interpreter here for: {', '.join(missing)}")


@pytest.mark.parametrize("program", ["node.mjs", "python.py"])
def test_the_programs_pass_all_vectors(program, capsys):
    interpreter = sys.executable if program.endswith(".py") else shutil.which("node")
    if interpreter is None:
        pytest.skip("no Node here")
    status = main(["conform", "--exec", shlex.join([interpreter, str(PROGRAMS / program)])])
    output = capsys.readouterr().out
    assert (status, output.splitlines()[-1]) == (0, f"{len(VECTORS)} of {len(VECTORS)} vectors pass"), output
