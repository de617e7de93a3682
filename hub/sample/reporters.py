"""The reporters of the sample's history: they replace the SDK's in the shop, and call the domains directly.

The SDK's reporters send from threads of their own, by the real clock. A day of the history is one transaction of one
thread, with a clock that is set by hand.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import parse_qs
from uuid import uuid4

from affidavit import ABSENT, InvalidJson, Observations, parse_json, template
from catalog.ingest.observations import render_sums
from catalog.ingest.receive import receive_report as receive_witness_report
from catalog.ingest.serializers import WitnessReportForm
from examples.bookshop.reporting import REPORTER
from intents.reports.operation_template import template_operation
from intents.reports.receive import receive_report as receive_verification_report
from intents.reports.verification import ACCEPTED, Verification
from outcomes.ingest.record import Report, record_outcomes
from wire.batches import split_into_batches
from wire.http.bounded_lists import MAX_ITEMS
from workspaces.models import ApiKey, Environment

QUARTER_SECONDS = 900
find_template = cache(template)  # the history has the same paths again and again
find_operation = cache(template_operation)
SECRET_CHARACTERS = 8  # of the signing secret that verified (contract §3)

Clock = Callable[[], float]
"""Returns the time, in Unix seconds."""


def now_of(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock(), UTC)


class SampleOutcomes:
    """Replaces an OutcomeReporter of the SDK."""

    def __init__(self, environment: Environment, key: ApiKey, clock: Clock) -> None:
        self._environment = environment
        self._key = key
        self._clock = clock
        self._reports: list[Report] = []

    def report(self, conversation_id: str, outcome_key: str) -> None:
        self._reports.append(Report(conversation_id, outcome_key))

    def send(self) -> None:
        if self._reports:
            record_outcomes(self._environment, self._reports, reported_by=self._key.pk, now=now_of(self._clock))
            self._reports = []


class MediaTypes(NamedTuple):
    """The media types of a request and its response; "" without a body. The shop sends them without parameters."""

    request: str
    response: str

    def as_members(self) -> dict[str, str]:
        """Return the members of an observation that name the media types."""
        members = {"requestMediaType": self.request, "responseMediaType": self.response}
        return {name: media_type for name, media_type in members.items() if media_type}


class SampleShapes:
    """Replaces a Witness of the SDK."""

    max_body = 1024 * 1024

    def __init__(self, environment: Environment, clock: Clock) -> None:
        self._environment = environment
        self._clock = clock
        self._observations: dict[MediaTypes, Observations] = defaultdict(Observations)

    def settles(self, *_: Any, **__: Any) -> bool:
        """Return False: every request of the history is observed."""
        return False

    def observe(
        self, method: str, path: str, status: int, *, query: str = "", request_body: Any = None,
        request_content_type: str | None = None, response_body: Any = None,
        response_content_type: str | None = None, **_: Any,
    ) -> None:  # fmt: skip
        media_types = MediaTypes(
            request_content_type or "" if request_body and 200 <= status < 400 else "",
            response_content_type or "" if response_body else "",
        )
        self._observations[media_types].add(
            method, find_template(path), status, at=self._clock(), query=parse_qs(query) if query else None,
            request=parse_or_absent(request_body), response=parse_or_absent(response_body),
        )  # fmt: skip

    def send(self) -> None:
        entries = [
            {**entry, **media_types.as_members()}
            for media_types, observations in self._observations.items()
            for entry in observations.entries()
        ]
        for observations in split_into_batches(entries, MAX_ITEMS):
            self._send_report({"reportId": str(uuid4()), "reporter": REPORTER, "observations": observations})
        self._observations.clear()

    def _send_report(self, document: dict[str, Any]) -> None:
        form = WitnessReportForm(data=document)
        form.is_valid(raise_exception=True)
        report_id, observations = form.validated_data["reportId"], form.validated_data["observations"]
        body = json.dumps(document).encode()
        now = now_of(self._clock)
        sums = render_sums(observations, received_at=now)
        receive_witness_report(self._environment, report_id, body, sums, reporter=REPORTER, now=now)


class VerificationKey(NamedTuple):
    """The key of a count: verifications with the same key are counted together.

    secret: the first characters of the signing secret that verified, "" for a rejection.
    quarter: the quarter hour, counted from the Unix epoch.
    """

    result: str
    version: int
    operation: str
    tool_call_id: str
    secret: str
    quarter: int


class SampleVerifications:
    """Replaces VerificationReports of the SDK."""

    def __init__(self, environment: Environment, key: ApiKey, clock: Clock) -> None:
        self._environment = environment
        self._key = key
        self._clock = clock
        self._counts: Counter[VerificationKey] = Counter()
        self._moments: dict[VerificationKey, float] = {}  # the last of each, in Unix seconds

    def add(
        self,
        result: str,
        *,
        version: int | None = None,
        operation: str = "",
        tool_call_id: str | None = None,
        secret: str = "",
    ) -> None:
        is_accepted = result == ACCEPTED
        call_id = "" if is_accepted else tool_call_id or ""
        used_secret = secret[:SECRET_CHARACTERS] if is_accepted else ""
        moment = self._clock()
        template_name, quarter = find_operation(operation), int(moment // QUARTER_SECONDS)
        key = VerificationKey(result, version or 0, template_name, call_id, used_secret, quarter)
        self._counts[key] += 1
        self._moments[key] = moment

    def send(self) -> None:
        verifications = [restore_verification(key, count, self._moments[key]) for key, count in self._counts.items()]
        now = now_of(self._clock)
        receive_verification_report(self._environment, uuid4(), verifications, body=b"", now=now, api_key=self._key)
        self._counts.clear()
        self._moments.clear()


def restore_verification(key: VerificationKey, count: int, last_at: float) -> Verification:
    return Verification(
        result=key.result,
        occurred_at=datetime.fromtimestamp(last_at, UTC),
        version=key.version,
        operation=key.operation,
        tool_call_id=key.tool_call_id,
        secret=key.secret,
        count=count,
    )


def parse_or_absent(body: Any) -> Any:
    """Return the JSON of a body; ABSENT if it is not JSON."""
    try:
        return parse_json(body) if isinstance(body, bytes) and body else ABSENT
    except InvalidJson:
        return ABSENT
