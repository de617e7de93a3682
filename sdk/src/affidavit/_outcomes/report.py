"""Reporting outcomes: which conversations led to what (contract 2, spec 4.1)."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from affidavit._errors import Fault, ReportError
from affidavit._hub.api_keys import KEY_HEADER, required_secret_key
from affidavit._hub.responses import bad_answer
from affidavit._hub.transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, Transport, shared_transport
from affidavit._json import Json

PATH = "/api/conversation-outcomes"
MAX_ITEMS = 500
NAMES = ("conversationId", "outcomeKey")

Outcome = Mapping[str, str] | tuple[str, str]
"""{"conversationId": …, "outcomeKey": …} or (conversation_id, outcome_key)."""


@dataclass(frozen=True, slots=True)
class OutcomeReceipt:
    """What the hub has on record when `report_outcomes` returns.

    recorded: items whose conversation is known. unknown_conversations: the ids that are not, each once, in
    order of first appearance; the hub keeps them and they heal when their conversation arrives.
    """

    recorded: int
    unknown_conversations: tuple[str, ...]


def report_outcomes(
    api_key: str | None,
    outcomes: Iterable[Outcome],
    *,
    environment: str | None = None,
    base_url: str = DEFAULT_BASE_URL,
    timeout: float = DEFAULT_TIMEOUT,
    transport: Transport | None = None,
) -> OutcomeReceipt:
    """Report outcomes and return once they are durably stored.

    api_key: a secret key (`gak_…`) with the scope `report`. outcomes: any number; more than 500 go in several
    requests, in order. environment: `production` when None. timeout: seconds, see HttpTransport. transport:
    used in place of `base_url` and `timeout`.

    Repeating a call creates no second outcome; retries inside one call do not even count as reports. Raises
    ReportError, its `sent` the number of items delivered before, its pointers into `outcomes` as given.
    """
    key = required_secret_key(api_key)
    items = [_item(outcome, index) for index, outcome in enumerate(_listed(outcomes))]
    bodies = [(len(chunk), _body(chunk, environment)) for chunk in _chunks(items)]
    way = transport or shared_transport(base_url, timeout)
    recorded, unknown, sent = 0, dict[str, None](), 0
    for size, body in bodies:
        receipt = _deliver(way, key, body, sent)
        recorded += receipt.recorded
        unknown.update(dict.fromkeys(receipt.unknown_conversations))
        sent += size
    return OutcomeReceipt(recorded, tuple(unknown))


reportOutcomes = report_outcomes  # noqa: N816 - the spec's name


def _listed(outcomes: object) -> Iterable[object]:
    """What is a text or a mapping can be walked too, but is never a list of outcomes."""
    if isinstance(outcomes, str | bytes | Mapping) or not isinstance(outcomes, Iterable):
        raise _misformed("/outcomes", "Give a list of outcomes.")
    return outcomes


def _item(outcome: object, index: int) -> dict[str, object]:
    """Only the two members that the call is about leave this process; the hub judges their values."""
    if isinstance(outcome, Mapping):
        return {name: outcome[name] for name in NAMES if name in outcome}
    if isinstance(outcome, Sequence) and not isinstance(outcome, str | bytes) and len(outcome) == 2:
        return dict(zip(NAMES, outcome, strict=True))
    raise _misformed(f"/outcomes/{index}", "Give a mapping or a pair (conversation_id, outcome_key).")


def _chunks(items: list[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """An empty list is one empty request: it too tells whether key and environment are right."""
    for start in range(0, max(len(items), 1), MAX_ITEMS):
        yield items[start : start + MAX_ITEMS]


def _body(chunk: list[dict[str, object]], environment: str | None) -> bytes:
    target = {} if environment is None else {"environment": environment}
    try:
        return json.dumps({**target, "outcomes": chunk}, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError):
        raise _misformed("/outcomes", "Something is not text. Give ids and keys as str.") from None


def _deliver(way: Transport, key: str, body: bytes, sent: int) -> OutcomeReceipt:
    headers = {KEY_HEADER: key, "Idempotency-Key": str(uuid.uuid4())}
    try:
        return _receipt(way.post_json(PATH, body, headers))
    except ReportError as error:
        raise error.after(sent, "outcomes") from None


def _receipt(answer: Json) -> OutcomeReceipt:
    recorded = answer.get("recorded") if isinstance(answer, dict) else None
    unknown = answer.get("unknownConversations") if isinstance(answer, dict) else None
    if type(recorded) is not int or not isinstance(unknown, list):
        raise bad_answer()
    return OutcomeReceipt(recorded, tuple(name for name in unknown if isinstance(name, str)))


def _misformed(pointer: str, detail: str) -> ReportError:
    fault = Fault(pointer, "invalid", detail)
    return ReportError("The outcomes cannot be sent; none was.", code="invalid-request", errors=[fault])
