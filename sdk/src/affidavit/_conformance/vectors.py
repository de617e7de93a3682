"""The test vectors as questions for a program, and whether an answer is right (docs/conformance.md)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeAlias

from affidavit._canonical import NotCanonical, canonical_json

JsonObject: TypeAlias = dict[str, Any]

_FOLDER = files("affidavit._conformance")
_ANSWER_MEMBERS = {
    "intent": ("accepted", "reason", "burnt"),
    "args": ("hash",),
    "canonical": ("canonical",),
    "number": ("text",),
}


@dataclass(frozen=True, slots=True)
class Vector:
    """One question and its right answer.

    name: unique among all vectors.
    group: the vectors that the score counts together.
    question: the members that the program is sent, without an id.
    expected: the members of the right answer, without an id.
    """

    name: str
    group: str
    description: str
    question: JsonObject
    expected: JsonObject

    def read_answer(self, answer: JsonObject) -> JsonObject:
        """Return the members of an answer that count. An empty `burnt` is left out, as if it were absent."""
        members = {name: answer[name] for name in _ANSWER_MEMBERS[self.question["kind"]] if name in answer}
        if members.get("burnt") == []:
            del members["burnt"]
        return members

    def is_answered_by(self, answer: JsonObject) -> bool:
        """Return whether an answer is right.

        Answers are compared as JSON values: 2 and 2.0 are equal, true and 1 are not.
        """
        try:
            return canonical_json(self.read_answer(answer)) == canonical_json(self.expected)
        except NotCanonical:
            return False


def load_vectors() -> list[Vector]:
    """Return all vectors, in the order of the files."""
    return [*_read_intents(), *_read_args(), *_read_canonical()]


def _read_intents() -> Iterator[Vector]:
    document = _read_document("intents.json")
    defaults = document["defaults"]
    for row in document["vectors"]:
        question = {
            "kind": "intent",
            "verifier": {**defaults["verifier"], **row.get("verifier", {})},
            "request": {**defaults["request"], **row["request"]},
            "burntNonces": row.get("burntNonces", defaults["burntNonces"]),
        }
        group, _, _ = row["id"].partition("/")
        answer = {**row["expected"], **_find_burnt_nonce(row["expected"])}
        yield Vector(row["id"], group, row["description"], question, answer)


def _find_burnt_nonce(answer: Mapping[str, Any]) -> JsonObject:
    """Return the member `burnt` of the right answer: only an accepted intent of version 2 burns its nonce."""
    payload = answer.get("accepted", {})
    return {"burnt": [[payload["tenantId"], payload["nonce"]]]} if "v" in payload else {}


def _read_args() -> Iterator[Vector]:
    for row in _read_document("args.json")["cases"]:
        question = {"kind": "args", "request": row["request"]}
        yield Vector(f"args/{row['id']}", "args", row["description"], question, {"hash": row["hash"]})


def _read_canonical() -> Iterator[Vector]:
    document = _read_document("canonical.json")
    for row in document["values"]:
        question = {"kind": "canonical", "input": row["input"]}
        yield Vector(f"canonical/{row['id']}", "canonical", "", question, {"canonical": row["canonical"]})
    for row in document["numbers"]:
        question = {"kind": "number", "bits": row["bits"]}
        yield Vector(f"number/{row['bits']}", "number", "", question, {"text": row["text"]})


def _read_document(name: str) -> JsonObject:
    document: JsonObject = json.loads(_FOLDER.joinpath(name).read_bytes())
    return document
