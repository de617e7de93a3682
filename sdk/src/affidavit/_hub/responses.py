"""Convert responses of the hub to a JSON value, or to an error that says what to do (contract §1)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from affidavit._errors import Fault, ReportError
from affidavit._json import InvalidJson, Json, is_json_type, parse

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNDOCUMENTED = "http-"
"""The prefix of the error code for an answer without a problem document."""
_NO_SUCH_CALL = (
    "The hub has no such call. Give its address without a path such as /api. If it has none, the hub may be older than "
    "this package."
)


@dataclass(frozen=True, slots=True)
class HubAnswer:
    """An HTTP response of the hub, read whole."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes


def parse_answer(answer: HubAnswer) -> Json:
    """Return the JSON of a 2xx answer.

    Raises ReportError `bad-answer` if the body is not JSON, or the Content-Type is not that of JSON.
    """
    with suppress(InvalidJson):
        if is_json_type(answer.headers.get("content-type", "application/json").partition(";")[0].strip().lower()):
            return parse(answer.body)
    raise bad_answer(answer.status, answer.headers.get("x-request-id"))


def bad_answer(status: int | None = None, request_id: str | None = None) -> ReportError:
    """Return the error for an answer that is not from a hub."""
    detail = (
        "The answer does not come from a hub: it is not known what was stored. Check that the address leads to the hub."
    )
    return ReportError(detail, code="bad-answer", status=status, request_id=request_id)


def is_temporary(error: ReportError) -> bool:
    """Return whether the same request may succeed a little later."""
    status = error.status or 0
    return status in (408, 429) or status >= 500 or error.code == "idempotency-key-in-use"


def is_refusal(error: ReportError) -> bool:
    """Return whether the hub refuses this content, so that it would refuse it again.

    A wrong key, a wrong address, a redirect and the answer of a proxy say nothing about the content: once the mistake
    is corrected, the same request succeeds.
    """
    is_documented = not error.code.startswith(_UNDOCUMENTED)
    return error.status == 413 or (error.status in (400, 415, 422) and is_documented)


def read_refusal(answer: HubAnswer, key: str) -> ReportError:
    """Return the error of an answer other than 2xx, from its problem document if it has one."""
    problem = _parse_problem(answer)
    code, detail = _read_text(problem, "code", key), _read_text(problem, "detail", key)
    if not (code and detail):
        problem, (code, detail) = {}, _describe_undocumented(answer)
    elif code == "not-found":  # the hub's detail is for a person who opened a page
        detail = _NO_SUCH_CALL
    return ReportError(
        _erase_key(key, detail),
        code=code,
        status=answer.status,
        errors=_read_faults(problem, key),
        request_id=_read_text(problem, "requestId", key)
        or _erase_key(key, answer.headers.get("x-request-id", ""))
        or None,
    )


def _parse_problem(answer: HubAnswer) -> dict[str, Json]:
    try:
        document = parse(answer.body)
    except InvalidJson:
        return {}
    return document if isinstance(document, dict) else {}


def _describe_undocumented(answer: HubAnswer) -> tuple[str, str]:
    """Return code and detail for an answer without a problem document: a proxy's, or another program's."""
    if answer.status in _REDIRECTS:
        target = answer.headers.get("location", "elsewhere").partition("?")[0]
        return "redirected", f"This address leads on to {target}. Give the final one as the hub's address."
    detail = "Not the hub but something else answered, a proxy perhaps. Check the hub's address and what it leads to."
    return f"{_UNDOCUMENTED}{answer.status}", detail


def _read_faults(problem: Mapping[str, Json], key: str) -> list[Fault]:
    errors = problem.get("errors")
    faults = [fault for fault in errors if isinstance(fault, dict)] if isinstance(errors, list) else []
    return [Fault(*(_read_text(fault, name, key) for name in Fault._fields)) for fault in faults]


def _read_text(document: Mapping[str, Json], name: str, key: str) -> str:
    """Return a member without the API key, which something in between may repeat; "" if it is no text."""
    text = document.get(name)
    return _erase_key(key, text) if isinstance(text, str) else ""


def _erase_key(key: str, text: str) -> str:
    return text.replace(key, "[key]") if key else text
