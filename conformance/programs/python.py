"""Answer the questions of docs/conformance.md with the package `affidavit`.

`affidavit conform --exec 'python conformance/programs/python.py'`
"""

from __future__ import annotations

import json
import struct
import sys
from base64 import b64decode
from typing import Any

from affidavit import (
    IntentRejected,
    IntentVerifier,
    InvalidArgs,
    MemoryNonces,
    RequestArgs,
    canonical_json,
    request_args,
)

MANY_YEARS = 1e12  # seconds


class RecordedNonces(MemoryNonces):
    """A nonce store that records what it burns."""

    def __init__(self, burnt_before: list[list[str]]) -> None:
        super().__init__(several_workers=True)
        for workspace, nonce in burnt_before:
            super().burn(workspace, nonce, MANY_YEARS, now=0)
        self.burnt: list[list[str]] = []

    def burn(self, workspace: str, nonce: str, expires_at: float, *, now: float) -> bool:
        is_fresh = super().burn(workspace, nonce, expires_at, now=now)
        self.burnt += [[workspace, nonce]] if is_fresh else []
        return is_fresh


def answer_question(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question, without its id."""
    if question["kind"] == "intent":
        return verify(question["verifier"], question["request"], RecordedNonces(question["burntNonces"]))
    if question["kind"] == "args":
        args = read_args(question["request"])
        return {"hash": None if args is None else args.hash}
    if question["kind"] == "canonical":
        return {"canonical": write_canonical(question["input"])}
    (number,) = struct.unpack(">d", bytes.fromhex(question["bits"]))
    return {"text": canonical_json(number).decode()}


def verify(facts: dict[str, Any], request: dict[str, Any], nonces: RecordedNonces) -> dict[str, Any]:
    verifier = build_verifier(facts, nonces)
    try:
        intent = verifier.verify(
            request["header"],
            request["method"],
            request["path"],
            request["query"],
            b64decode(request["bodyBase64"]),
            request["contentType"],
            content_encoding=request["contentEncoding"],
            operation=request["operation"],
            raw_path=request["rawPath"],
            request=request,
        )
    except IntentRejected as rejection:
        return {"reason": rejection.reason, "burnt": nonces.burnt}
    return {"accepted": intent.payload, "burnt": nonces.burnt}


def build_verifier(facts: dict[str, Any], nonces: RecordedNonces) -> IntentVerifier:
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


def read_args(request: dict[str, Any]) -> RequestArgs | None:
    try:
        return request_args(
            b64decode(request["bodyBase64"]),
            request["contentType"],
            request["query"],
            content_encoding=request["contentEncoding"],
        )
    except InvalidArgs:
        return None


def write_canonical(text: str) -> str | None:
    """Return the RFC 8785 form of a JSON text, None if it has none."""
    try:
        args = request_args(text.encode() or b" ", "application/json")  # an empty body would be no arguments, {}
    except InvalidArgs:
        return None
    return None if isinstance(args.value, bytes) else canonical_json(args.value).decode()


def main() -> None:
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["id"], **answer_question(question)}), flush=True)


if __name__ == "__main__":
    main()
