"""What an answer of the hub means: a JSON value, or an error that says what to do (contract 1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from affidavit._errors import Fault, ReportError
from affidavit._json import InvalidJson, Json, parse

REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes


def value(answer: Answer) -> Json:
    """The JSON of a 2xx answer; ReportError `bad-answer` if it is none."""
    try:
        return parse(answer.body)
    except InvalidJson:
        raise bad_answer(answer.status, answer.headers.get("x-request-id")) from None


def bad_answer(status: int | None = None, request_id: str | None = None) -> ReportError:
    detail = "The answer is not a hub's: it is not known what was stored. Check that base_url leads to the hub."
    return ReportError(detail, code="bad-answer", status=status, request_id=request_id)


def is_passing(failure: ReportError) -> bool:
    """Whether the same request may well be taken a little later."""
    status = failure.status or 0
    return status == 429 or status >= 500 or failure.code == "idempotency-key-in-use"


def refusal(answer: Answer, key: str) -> ReportError:
    """The error that an answer other than 2xx stands for, told by its problem document if it has one."""
    problem = _problem(answer)
    code, detail = _text(problem, "code"), _text(problem, "detail")
    if not (code and detail):
        code, detail = _undocumented(answer)
    return ReportError(
        _without(key, detail),
        code=code,
        status=answer.status,
        errors=_faults(problem, key),
        request_id=_text(problem, "requestId") or answer.headers.get("x-request-id"),
    )


def _problem(answer: Answer) -> dict[str, Json]:
    try:
        value = parse(answer.body)
    except InvalidJson:
        return {}
    return value if isinstance(value, dict) else {}


def _undocumented(answer: Answer) -> tuple[str, str]:
    """Code and detail for an answer that is no problem document: a proxy's, or another program's."""
    if answer.status in REDIRECTS:
        target = answer.headers.get("location", "elsewhere").partition("?")[0]
        return "redirected", f"This address leads on to {target}. Give the hub's final address as base_url."
    detail = "Not the hub but something else answered, a proxy perhaps. Check base_url and what it leads to."
    return f"http-{answer.status}", detail


def _faults(problem: Mapping[str, Json], key: str) -> list[Fault]:
    listed = problem.get("errors")
    faults = [fault for fault in listed if isinstance(fault, dict)] if isinstance(listed, list) else []
    return [
        Fault(_text(fault, "pointer"), _text(fault, "code"), _without(key, _text(fault, "detail"))) for fault in faults
    ]


def _text(document: Mapping[str, Json], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _without(key: str, text: str) -> str:
    return text.replace(key, "[key]") if key else text
