"""Send observations to the hub as witness reports (contract §4)."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from affidavit._errors import Fault, ReportError
from affidavit._hub.api_keys import KEY_HEADER, require_secret_key
from affidavit._hub.base_url import resolve_base_url
from affidavit._hub.environments import require_environment
from affidavit._hub.responses import bad_answer
from affidavit._hub.transport import DEFAULT_TIMEOUT, Transport, get_shared_transport
from affidavit._json import Json

_PATH = "/api/witness-reports"
_MAX_OBSERVATIONS = 500
_MAX_REPORT_BYTES = 4 * 1024 * 1024
_ENVELOPE = 4 * 1024  # room for the other members of the body
_REPORT_ID_NAMESPACE = uuid.UUID("6f1d3c0e-5f0a-5b7e-9a53-0f4f0c6f6b11")

WireObservation = Mapping[str, Json]
"""One entry of a report as sent, with its `count`."""


@dataclass(frozen=True, slots=True)
class WitnessReceipt:
    """A receipt of what was delivered.

    observations: the number of requests that were observed, which is the sum of the counts of all entries.
    entries: the number of entries that were sent.
    report_ids: the ids of the reports, in the order in which they were sent.
    """

    observations: int
    entries: int
    report_ids: tuple[str, ...]


def make_random_report_id(content: bytes) -> str:
    """Return a random id: if the same content is built into a report again, it counts again."""
    return str(uuid.uuid4())


def make_content_report_id(content: bytes) -> str:
    """Return an id computed from the content: sending the same content again changes nothing."""
    return str(uuid.uuid5(_REPORT_ID_NAMESPACE, sha256(content).hexdigest()))


def send_observations(
    observations: Iterable[WireObservation],
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    environment: str | None = None,
    report_id: Callable[[bytes], str] = make_random_report_id,
    timeout: float = DEFAULT_TIMEOUT,
    transport: Transport | None = None,
) -> WitnessReceipt:
    """Deliver observations and return once all are durably stored.

    observations: wire entries, sent in order in reports of at most 500 entries and 4 MiB.
    report_id: a function that makes the id of a report from the bytes of its environment and observations.
    transport: used in place of `base_url` and `timeout`.

    Raises ReportError; its `sent` is the number of entries delivered before.
    """
    key = require_secret_key(api_key)
    channel = transport or get_shared_transport(resolve_base_url(base_url), timeout)
    observation_count, entries, ids = 0, 0, list[str]()
    target = require_environment(environment)
    try:
        for report in build_reports(observations, environment=target, report_id=report_id):
            ids.append(report.report_id)
            deliver_report(channel, key, report.body)
            entries += report.entries
            observation_count += report.observations
    except ReportError as error:
        raise error.after(entries, "observations") from None
    return WitnessReceipt(observation_count, entries, tuple(ids))


@dataclass(frozen=True, slots=True)
class _Entry:
    text: bytes
    count: int


@dataclass(frozen=True, slots=True)
class WitnessReport:
    """One report as sent: the same bytes on every try, so that it counts once."""

    body: bytes
    report_id: str
    entries: int
    observations: int


def build_reports(
    observations: Iterable[WireObservation],
    *,
    environment: str | None = None,
    reporter: str = "",
    report_id: Callable[[bytes], str] = make_random_report_id,
) -> Iterator[WitnessReport]:
    """Yield reports of at most 500 entries and 4 MiB, in order.

    reporter: the name of this program.
    """
    for batch in _split_batches(observations):
        content = _encode_content(batch, environment)
        identity = report_id(content)
        body = _add_identity(content, identity, reporter)
        yield WitnessReport(body, identity, len(batch), sum(entry.count for entry in batch))


def deliver_report(channel: Transport, key: str, body: bytes) -> None:
    """Send a report; raise ReportError unless the hub has stored it."""
    answer = channel.post_json(_PATH, body, {KEY_HEADER: key})
    if not (isinstance(answer, dict) and "accepted" in answer):
        raise bad_answer()


def _split_batches(observations: Iterable[WireObservation]) -> Iterator[Sequence[_Entry]]:
    batch, size = list[_Entry](), _ENVELOPE
    for observation in observations:
        entry = _encode_entry(observation, len(batch))
        if batch and (len(batch) == _MAX_OBSERVATIONS or size + len(entry.text) + 1 > _MAX_REPORT_BYTES):
            yield batch
            batch, size = [], _ENVELOPE
        batch.append(entry)
        size += len(entry.text) + 1
    if batch:
        yield batch


def _encode_entry(observation: WireObservation, index: int) -> _Entry:
    """Return an observation as sent. Raises ReportError for one that JSON cannot carry.

    index: its position among the observations that were not sent yet.
    """
    try:
        members = _leave_out_filled_segments(observation)
        text = json.dumps(members, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        fault = Fault(f"/observations/{index}", "invalid", "Something is not JSON, such as NaN or half a character.")
        detail = "An observation cannot be sent, so its whole report was not."
        raise ReportError(detail, code="invalid-request", errors=[fault]) from None
    count = observation.get("count")
    return _Entry(text, count if isinstance(count, int) else 1)


def _leave_out_filled_segments(observation: WireObservation) -> WireObservation:
    """Return the observation without the `undecided` segments that hold a parameter, because the hub refuses them."""
    path, undecided = observation.get("path"), observation.get("undecided")
    if not (isinstance(path, str) and isinstance(undecided, list)):
        return observation
    filled_indexes = {index for index, segment in enumerate(path.split("/")[1:]) if "{" in segment}
    literal_indexes = [index for index in undecided if index not in filled_indexes]
    members = {**observation, "undecided": literal_indexes}
    return {name: value for name, value in members.items() if name != "undecided" or literal_indexes}


def _encode_content(batch: Sequence[_Entry], environment: str | None) -> bytes:
    """Return the members of the body, without the braces around them and without its reportId."""
    target = b"" if environment is None else b'"environment":%s,' % json.dumps(environment).encode()
    return target + b'"observations":[' + b",".join(entry.text for entry in batch) + b"]"


def _add_identity(content: bytes, report_id: str, reporter: str) -> bytes:
    members = {"reportId": report_id, **({"reporter": reporter} if reporter else {})}
    return b"{%s,%s}" % (json.dumps(members).encode()[1:-1], content)
