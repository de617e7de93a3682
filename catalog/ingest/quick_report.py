"""Read a well-formed report quickly; leave any doubtful report to the form, which alone reports errors.

A witness sends the same descriptors again and again, with other counts. So each form of a descriptor is read once per
process (shape_templates); in the body a short object takes its place. What remains of the body is small. It is read by
the one strict parser (affidavit._json) and checked by a compiled form (msgspec). A shape depends on the bytes of its
descriptor alone, never on a workspace: rules are applied when shapes are shown.

This module accepts no body that the strict parser refuses, for these reasons. A descriptor is replaced only if it is a
strict JSON object by itself. Where its bytes are a value of the body, one object is replaced by another. Where they are
within a string, their first quotation mark ends that string too early, and so does the first one of the stand-in. So
neither the body as sent nor the shortened body is JSON.
The depths of the body and of the descriptor add up, so each may have half of the allowed depth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, cast
from uuid import UUID

from msgspec import UNSET, Meta, MsgspecError, Raw, Struct, UnsetType
from msgspec.json import Decoder
from rest_framework.exceptions import ValidationError

from affidavit import parse_json
from affidavit.operations import SECONDS_PER_DAY
from catalog.ingest.observations import Observation, choose_times, list_counted_parts, sum_observations
from catalog.ingest.serializers import (
    MAX_MEDIA_TYPE,
    MAX_REPORTER,
    MEDIA_TYPE,
    PARAMETER_TYPES,
    SHAPES,
    TOKEN,
    find_contradictions,
)
from catalog.ingest.shape_templates import HALF_DEPTH, Shape, fill_template, read_shape
from catalog.models import MAX_METHOD
from catalog.path_template import MAX_PATH_BYTES, MAX_SEGMENTS, find_path_errors
from wire.http.bounded_lists import MAX_ITEMS
from wire.http.fields import MAX_COUNT, UUID_FORM, Moment

MAX_SHAPES = 2000  # shapes that a process remembers
MAX_STAND_INS = 100  # with more, searching the body for each takes longer than parsing all of it
MAX_SHAPE_BYTES = 8 * 1024  # the shape of a longer descriptor is not remembered
_MARK = "#"
_DAYS = '"days":[0,0]'  # no string contains this: its quotation marks would be escaped
_COUNT = cast(int, "\0")  # stands for a count; no text of a report holds it, because the strict parser refuses NUL
_COUNT_TEXT = json.dumps(_COUNT)
_ANY_TIME = datetime.fromtimestamp(0, UTC)
_MOMENT = Moment()


class _Doubt(Exception):
    """Something may be wrong with the report: the form decides."""


class _Parameter(Struct):
    type: str


_Descriptor = Raw | UnsetType  # the bytes of a descriptor
_MediaType = Annotated[str, Meta(min_length=1, max_length=MAX_MEDIA_TYPE, pattern=MEDIA_TYPE.pattern)]
_Index = Annotated[int, Meta(ge=0, le=MAX_COUNT)]


class _ObservationForm(Struct, rename="camel"):
    """The compiled form of WitnessObservation."""

    method: Annotated[str, Meta(min_length=1, max_length=MAX_METHOD, pattern=TOKEN.pattern)]
    path: Annotated[str, Meta(min_length=1, max_length=MAX_PATH_BYTES)]
    status: Annotated[int, Meta(ge=100, le=599)]
    count: Annotated[int, Meta(ge=1, le=MAX_COUNT)]
    first_seen_at: int | float | UnsetType = UNSET
    last_seen_at: int | float | UnsetType = UNSET
    parameters: Annotated[dict[str, _Parameter], Meta(max_length=MAX_SEGMENTS)] = {}
    undecided: Annotated[list[_Index], Meta(max_length=MAX_SEGMENTS)] = []
    query: _Descriptor = UNSET
    request: _Descriptor = UNSET
    response: _Descriptor = UNSET
    request_media_type: _MediaType = ""
    response_media_type: _MediaType = ""


class _ReportForm(Struct, rename="camel"):
    """The compiled form of WitnessReportForm."""

    report_id: str
    observations: Annotated[list[_ObservationForm], Meta(max_length=MAX_ITEMS)]
    environment: str = "production"
    reporter: Annotated[str, Meta(min_length=1, max_length=MAX_REPORTER)] = ""


# msgspec compiles a form when it is first used, which is here: two threads that did so at once would end the process
# (SIGSEGV).
_DECODER = Decoder(_ReportForm)


def read_report(body: bytes, *, received_at: datetime) -> dict[str, Any] | None:
    """Return the members of the report if it is certainly what WitnessReportForm accepts, else None.

    Its observations are without shapes. `sums` are its sanitized sums as JSON, as DailySums.from_state reads them.
    """
    try:
        return _read_report(body, received_at)
    except (_Doubt, MsgspecError, ValueError, ValidationError, RecursionError):
        return None


def _read_report(body: bytes, received_at: datetime) -> dict[str, Any]:
    # The strict parser comes last: it takes the longest, and runs again if the form has to report an error.
    form = _DECODER.decode(body)
    if not UUID_FORM.fullmatch(form.report_id):
        raise _Doubt
    observations = [_build_observation(observation) for observation in form.observations]
    descriptors = [_list_descriptors(observation) for observation in form.observations]
    # Equal texts are different shapes if their observations have different counts, which a descriptor may leave out.
    shapes = {
        (text, observation.count): _find_shape(text, observation.count)
        for observation, texts in zip(form.observations, descriptors, strict=True)
        for text in texts.values()
    }
    states = []
    for observation, texts in zip(observations, descriptors, strict=True):
        parts = {name: shapes[text, observation.count] for name, text in texts.items()}
        if any(shape.seen > observation.count for shape in parts.values()):
            raise _Doubt
        states.append(_render_state(observation, parts, received_at))
    _check_strictly(body, descriptors)
    return {
        "environment": form.environment,
        "reportId": UUID(form.report_id),
        "reporter": form.reporter,
        "observations": observations,
        "sums": f"[{','.join(states)}]",
    }


def _list_descriptors(observation: _ObservationForm) -> dict[str, bytes]:
    texts = {name: getattr(observation, name) for name in SHAPES}
    return {name: bytes(text) for name, text in texts.items() if text is not UNSET}


def _check_strictly(body: bytes, descriptors: Sequence[Mapping[str, bytes]]) -> None:
    """Raise _Doubt or ValueError unless the strict parser accepts the body and finds these descriptors in it."""
    texts = {text for texts in descriptors for text in texts.values()}
    if len(texts) > MAX_STAND_INS:
        parse_json(body)
        return
    stand_ins = {text: {_MARK: number} for number, text in enumerate(sorted(texts, key=len, reverse=True))}
    for text, stand_in in stand_ins.items():  # the longest first, because a shorter one may be part of it
        body = body.replace(text, json.dumps(stand_in).encode())
    report = cast(dict[str, Any], parse_json(body, max_depth=HALF_DEPTH))
    # The docstring of this module shows why this holds; if it were wrong, a shape would be lost silently.
    for observation, texts_by_name in zip(report["observations"], descriptors, strict=True):
        members = {name: stand_ins[text] for name, text in texts_by_name.items()}
        if {name: observation[name] for name in SHAPES if name in observation} != members:
            raise _Doubt


def _find_shape(text: bytes, count: int) -> Shape:
    """Return the shape of a descriptor in an observation of `count`. Raises _Doubt or ValueError."""
    if len(text) <= MAX_SHAPE_BYTES and (shape := _remember_shape(text)):
        return shape
    descriptor = parse_json(text, max_depth=HALF_DEPTH)
    if not isinstance(descriptor, dict):
        raise _Doubt
    return read_shape(descriptor, count)


_remember_shape = lru_cache(MAX_SHAPES)(fill_template)


def _build_observation(form: _ObservationForm) -> Observation:
    """Return the observation without its shapes. Raises _Doubt or ValidationError."""
    parameters = {name: parameter.type for name, parameter in form.parameters.items()}
    first, last = (
        None if moment is UNSET else _MOMENT.to_internal_value(moment)
        for moment in (form.first_seen_at, form.last_seen_at)
    )
    if not _is_path(form.path) or not set(PARAMETER_TYPES).issuperset(parameters.values()):
        raise _Doubt
    members = {"path": form.path, "parameters": parameters, "undecided": form.undecided}
    if find_contradictions({**members, "firstSeenAt": first, "lastSeenAt": last}):
        raise _Doubt
    return Observation(
        form.method,
        form.path,
        form.status,
        form.count,
        first,
        last,
        parameters,
        form.undecided,
        request_media_type=form.request_media_type,
        response_media_type=form.response_media_type,
    )


@lru_cache(MAX_SHAPES)
def _is_path(path: str) -> bool:
    return not find_path_errors(path)


def _render_state(observation: Observation, shapes: Mapping[str, Shape], received_at: datetime) -> str:
    """Return the state of the sum of one observation, as JSON."""
    first, last = choose_times(observation, received_at)
    facts = _remember_facts(
        observation.method,
        observation.path,
        observation.status,
        tuple(observation.parameters.items()),
        tuple(observation.undecided),
        observation.request_media_type,
        observation.response_media_type,
    ).replace(_COUNT_TEXT, str(observation.count))
    days = f'"days":[{first // SECONDS_PER_DAY},{last // SECONDS_PER_DAY}]'
    parts = [
        f'["{part.name}",{part.status or "null"},{shape.state.replace(_DAYS, days)}]'
        for part, shape in list_counted_parts(observation.status, shapes)
    ]
    return f'{facts}, "first": {first}, "last": {last}, "parts": [{",".join(parts)}]}}'


@lru_cache(MAX_SHAPES)
def _remember_facts(
    method: str,
    path: str,
    status: int,
    parameters: tuple[tuple[str, str], ...],
    undecided_indexes: tuple[int, ...],
    request_media_type: str,
    response_media_type: str,
) -> str:
    """Return the beginning of an observation's state: all but times and parts, with _COUNT in place of its count."""
    observation = Observation(
        method, path, status, _COUNT, None, None, dict(parameters), undecided_indexes,
        request_media_type=request_media_type, response_media_type=response_media_type,
    )  # fmt: skip
    (state,) = sum_observations([observation], received_at=_ANY_TIME).to_state()
    return json.dumps({name: value for name, value in state.items() if name not in ("first", "last", "parts")})[:-1]
