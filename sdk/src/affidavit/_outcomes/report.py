"""Report outcomes: what a conversation led to (contract §2)."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from affidavit._errors import Fault, ReportError
from affidavit._hub.api_keys import KEY_HEADER, require_secret_key
from affidavit._hub.base_url import resolve_base_url
from affidavit._hub.environments import require_environment
from affidavit._hub.responses import bad_answer
from affidavit._hub.transport import DEFAULT_TIMEOUT, Transport, get_shared_transport
from affidavit._json import Json

OUTCOMES_PATH = "/api/conversation-outcomes"
MAX_OUTCOMES = 500
ITEM_NAMES = ("conversationId", "outcomeKey")

Outcome = Mapping[str, str] | tuple[str, str]
"""{"conversationId": …, "outcomeKey": …} or (conversation_id, outcome_key)."""


@dataclass(frozen=True, slots=True)
class OutcomeReceipt:
    """The outcomes that the hub has stored when `report_outcomes` returns.

    recorded: items whose conversation is known.
    unknown_conversations: the ids that the hub does not know, without repetition, in order of first appearance. The hub
        stores these outcomes too, and joins them when their conversation arrives.
    """

    recorded: int
    unknown_conversations: tuple[str, ...]


def report_outcomes(
    api_key: str | None,
    outcomes: Iterable[Outcome],
    *,
    environment: str | None = None,
    base_url: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    transport: Transport | None = None,
) -> OutcomeReceipt:
    """Report outcomes and return once they are durably stored.

    api_key: a secret key (`gak_…`) with the scope `report`.
    outcomes: any number of them; they are sent in order, 500 per request.
    environment: None for the environment that the variable AFFIDAVIT_ENVIRONMENT names, or for `production` without it.
    timeout: seconds, see HttpTransport.
    transport: used in place of `base_url` and `timeout`.

    Repeating a call creates no second outcome, and retries within one call do not count as reports. Raises ReportError;
    its `sent` is the number of items delivered before, its pointers are positions in `outcomes`.
    """
    key = require_secret_key(api_key)
    items = [build_item(outcome, index) for index, outcome in enumerate(_require_list(outcomes))]
    target = require_environment(environment)
    bodies = [
        (len(chunk), encode_body(chunk, target, first_index=number * MAX_OUTCOMES))
        for number, chunk in enumerate(_split_chunks(items))
    ]
    channel = transport or get_shared_transport(resolve_base_url(base_url), timeout)
    recorded_count, unknown, delivered_count = 0, dict[str, None](), 0
    for size, body in bodies:
        receipt = _deliver(channel, key, body, delivered_count)
        recorded_count += receipt.recorded
        unknown.update(dict.fromkeys(receipt.unknown_conversations))
        delivered_count += size
    return OutcomeReceipt(recorded_count, tuple(unknown))


reportOutcomes = report_outcomes  # noqa: N816  # the name in the specification that docs/contract.md implements


def _require_list(outcomes: object) -> Iterable[object]:
    """Return `outcomes`. Refuse text and mappings: they are iterable too, but passed by mistake."""
    if isinstance(outcomes, str | bytes | Mapping) or not isinstance(outcomes, Iterable):
        raise _make_invalid_request("/outcomes", "Give a list of outcomes.")
    return outcomes


def build_item(outcome: object, index: int) -> dict[str, object]:
    """Return the wire item of one outcome. Only its two members are sent; the hub checks their values."""
    if isinstance(outcome, Mapping):
        return {name: outcome[name] for name in ITEM_NAMES if name in outcome}
    if isinstance(outcome, Sequence) and not isinstance(outcome, str | bytes) and len(outcome) == 2:
        return dict(zip(ITEM_NAMES, outcome, strict=True))
    raise _make_invalid_request(f"/outcomes/{index}", "Give a mapping or a pair (conversation_id, outcome_key).")


def _split_chunks(items: list[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Split into requests. An empty list is one empty request, which still checks key and environment."""
    for start in range(0, max(len(items), 1), MAX_OUTCOMES):
        yield items[start : start + MAX_OUTCOMES]


def encode_body(chunk: list[dict[str, object]], environment: str | None, *, first_index: int = 0) -> bytes:
    """Return the body of a request. Raises ReportError for the first item that JSON cannot carry.

    first_index: the position of the chunk in the whole list.
    """
    target = {} if environment is None else {"environment": environment}
    try:
        return _encode({**target, "outcomes": chunk})
    except (TypeError, ValueError):
        pointer = f"/outcomes/{first_index + _find_unsendable(chunk)}"
        raise _make_invalid_request(pointer, "Something is not text. Give ids and keys as str.") from None


def _encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _find_unsendable(chunk: list[dict[str, object]]) -> int:
    for index, item in enumerate(chunk):
        try:
            _encode(item)
        except (TypeError, ValueError):
            return index
    return 0


def _deliver(channel: Transport, key: str, body: bytes, delivered_count: int) -> OutcomeReceipt:
    headers = {KEY_HEADER: key, "Idempotency-Key": str(uuid.uuid4())}
    try:
        return read_receipt(channel.post_json(OUTCOMES_PATH, body, headers))
    except ReportError as error:
        raise error.after(delivered_count, "outcomes") from None


def read_receipt(answer: Json) -> OutcomeReceipt:
    recorded_count = answer.get("recorded") if isinstance(answer, dict) else None
    unknown = answer.get("unknownConversations") if isinstance(answer, dict) else None
    if type(recorded_count) is not int or not isinstance(unknown, list):
        raise bad_answer()
    return OutcomeReceipt(recorded_count, tuple(name for name in unknown if isinstance(name, str)))


def _make_invalid_request(pointer: str, detail: str) -> ReportError:
    fault = Fault(pointer, "invalid", detail)
    return ReportError("The outcomes cannot be sent; none was.", code="invalid-request", errors=[fault])
