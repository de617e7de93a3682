"""Sending what a reporter saw: observations in, witness reports out (contract 4)."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER, require_secret_key
from affidavit._hub.responses import bad_answer
from affidavit._hub.transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, Transport, get_shared_transport
from affidavit._json import Json

PATH = "/api/witness-reports"
MAX_OBSERVATIONS = 500
MAX_BODY = 4 * 1024 * 1024
ENVELOPE = 4 * 1024  # room for the other members of the body
NAMESPACE = uuid.UUID("6f1d3c0e-5f0a-5b7e-9a53-0f4f0c6f6b11")

Observation = Mapping[str, Json]
"""One entry of a report as it goes over the wire, `count` and all."""


@dataclass(frozen=True, slots=True)
class WitnessReceipt:
    """What was delivered: `observations` seen, summed up in `entries`, in reports with these ids."""

    observations: int
    entries: int
    report_ids: tuple[str, ...]


def random_report_id(content: bytes) -> str:
    """A new id for every report: what is sent twice counts twice."""
    return str(uuid.uuid4())


def content_report_id(content: bytes) -> str:
    """An id that follows from the content: sending the same again changes nothing."""
    return str(uuid.uuid5(NAMESPACE, sha256(content).hexdigest()))


def send_observations(
    observations: Iterable[Observation],
    *,
    api_key: str | None,
    base_url: str = DEFAULT_BASE_URL,
    environment: str | None = None,
    report_id: Callable[[bytes], str] = random_report_id,
    timeout: float = DEFAULT_TIMEOUT,
    transport: Transport | None = None,
) -> WitnessReceipt:
    """Deliver observations and return once all are durably stored.

    observations: wire entries; they go in reports of at most 500 and 4 MiB, in order. report_id: makes the
    id of a report from the bytes of its environment and observations. transport: used in place of `base_url`
    and `timeout`. Raises ReportError, its `sent` the number of entries delivered before.
    """
    key = require_secret_key(api_key)
    way = transport or get_shared_transport(base_url, timeout)
    seen, entries, ids = 0, 0, list[str]()
    for report in reports(observations, environment=environment, report_id=report_id):
        ids.append(report.report_id)
        try:
            deliver(way, key, report.body)
        except ReportError as error:
            raise error.after(entries, "observations") from None
        entries += report.entries
        seen += report.observations
    return WitnessReceipt(seen, entries, tuple(ids))


@dataclass(frozen=True, slots=True)
class _Entry:
    text: bytes
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """One report as it goes over the wire: the same bytes on every try, so that it counts once."""

    body: bytes
    report_id: str
    entries: int
    observations: int


def reports(
    observations: Iterable[Observation],
    *,
    environment: str | None = None,
    reporter: str = "",
    report_id: Callable[[bytes], str] = random_report_id,
) -> Iterator[Report]:
    """Observations as reports of at most 500 and 4 MiB, in order. reporter: the program that saw them."""
    for batch in _batches(observations):
        content = _content(batch, environment)
        identity = report_id(content)
        body = _identified(content, identity, reporter)
        yield Report(body, identity, len(batch), sum(entry.count for entry in batch))


def deliver(way: Transport, key: str, body: bytes) -> None:
    """Raises ReportError unless the hub has stored the report."""
    answer = way.post_json(PATH, body, {KEY_HEADER: key})
    if not (isinstance(answer, dict) and "accepted" in answer):
        raise bad_answer()


def _batches(observations: Iterable[Observation]) -> Iterator[Sequence[_Entry]]:
    batch, size = list[_Entry](), ENVELOPE
    for entry in map(_entry, observations):
        if batch and (len(batch) == MAX_OBSERVATIONS or size + len(entry.text) + 1 > MAX_BODY):
            yield batch
            batch, size = [], ENVELOPE
        batch.append(entry)
        size += len(entry.text) + 1
    if batch:
        yield batch


def _entry(observation: Observation) -> _Entry:
    text = json.dumps(observation, separators=(",", ":"), ensure_ascii=False)
    count = observation.get("count")
    return _Entry(text.encode(), count if isinstance(count, int) else 1)


def _content(batch: Sequence[_Entry], environment: str | None) -> bytes:
    """Members of the body without the braces around them and without its reportId."""
    target = b"" if environment is None else b'"environment":%s,' % json.dumps(environment).encode()
    return target + b'"observations":[' + b",".join(entry.text for entry in batch) + b"]"


def _identified(content: bytes, report_id: str, reporter: str) -> bytes:
    members = {"reportId": report_id, **({"reporter": reporter} if reporter else {})}
    return b"{%s,%s}" % (json.dumps(members).encode()[1:-1], content)
