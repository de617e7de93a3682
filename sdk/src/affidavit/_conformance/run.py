"""Run a program against vectors, and score it (docs/conformance.md)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit._conformance.program import Program, ProgramFault
from affidavit._conformance.vectors import JsonObject, Vector
from affidavit._json import InvalidJson, parse

MAX_FAULTS_IN_ROW = 5
"""Vectors in a row without an answer, after which the rest is not run."""
_MAX_LINE_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one vector.

    answer: the members that count, None without an answer; `fault` then says why.
    """

    vector: Vector
    answer: JsonObject | None
    fault: str = ""

    @property
    def is_passed(self) -> bool:
        return self.answer is not None and self.vector.is_answered_by(self.answer)


async def run_vectors(command: Sequence[str], vectors: Sequence[Vector], *, time_limit: float) -> list[Result]:
    """Return the results of the vectors, in order; fewer than vectors if too many in a row got no answer.

    After a vector without an answer the program is ended and started anew, so that one fault spoils one vector.

    time_limit: seconds for each answer.

    Raises OSError if the program cannot be started.
    """
    results: list[Result] = []
    faults_in_row = 0
    program: Program | None = None
    try:
        for number, vector in enumerate(vectors, start=1):
            program = program or await Program.start(command, time_limit=time_limit)
            try:
                answer = await _ask(program, str(number), vector)
                results.append(Result(vector, vector.read_answer(answer)))
                faults_in_row = 0
            except ProgramFault as fault:
                results.append(Result(vector, None, str(fault)))
                faults_in_row += 1
                await program.kill()
                program = None
            if faults_in_row == MAX_FAULTS_IN_ROW:
                break
        if program is not None:
            await program.end()
            program = None
    finally:
        if program is not None:
            await program.kill()
    return results


async def _ask(program: Program, question_id: str, vector: Vector) -> JsonObject:
    """Return the answer to a vector's question. Raises ProgramFault for any other line."""
    line = await program.ask(json.dumps({"id": question_id, **vector.question}).encode())
    try:
        answer = parse(line)
    except InvalidJson:
        raise ProgramFault(f"a line that is not JSON: {_show_beginning(line)}") from None
    if not isinstance(answer, dict):
        raise ProgramFault(f"a line that is not a JSON object: {_show_beginning(line)}")
    if "id" not in answer:
        raise ProgramFault(f"an answer without an id: {_show_beginning(line)}")
    if answer["id"] != question_id:
        raise ProgramFault(
            f"an answer with the wrong id, where {json.dumps(question_id)} was due: {_show_beginning(line)}"
        )
    return answer


def _show_beginning(line: bytes) -> str:
    """Return the beginning of a line in printable ASCII."""
    return ascii(line[:_MAX_LINE_SHOWN].decode(errors="replace").rstrip("\n")) + (
        "…" if len(line) > _MAX_LINE_SHOWN else ""
    )
