"""The form of a witness report (contract §4). Every fault has its pointer, and no message repeats a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from affidavit import Evidence, InvalidDescriptor, from_descriptor, whole_number
from affidavit.operations import PARAMETER
from catalog.ingest.observations import Observation
from catalog.models import MAX_METHOD
from catalog.path_template import MAX_PATH_BYTES, MAX_SEGMENTS, PATH_ERRORS, find_path_errors, split_path
from wire.http.bounded_lists import MAX_ITEMS, BatchItem
from wire.http.fields import MAX_COUNT, Count, EnvironmentName, ExactText, Form, Moment, UuidText

TOKEN = re.compile(r"\A[A-Z0-9!#$%&'*+.^_`|~-]+\Z")
MEDIA_TYPE = re.compile(r"\A[^\s/;]+/[^\s/;]+\s*(?:;|\Z)")
MAX_MEDIA_TYPE = 1000  # characters, with parameters
MAX_REPORTER = 200
PARAMETER_TYPES = ("string", "number", "integer", "boolean", "unknown")
SHAPES = ("query", "request", "response")


class PathTemplate(ExactText):
    """`/orders/{orderId}`: no host, query or fragment, parameters in braces with a name each."""

    default_error_messages = {**PATH_ERRORS}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_PATH_BYTES, **options)

    def to_internal_value(self, data: Any) -> str:
        path = super().to_internal_value(data)
        if len(path) > MAX_PATH_BYTES:
            self.fail("max_length", max_length=MAX_PATH_BYTES)
        faults = [ErrorDetail(PATH_ERRORS[code], code) for code in find_path_errors(path)]
        if faults:
            raise serializers.ValidationError(faults)
        return path


class MediaType(ExactText):
    """`text/csv`. On arrival, an unknown media type becomes a range such as `text/*`; parameters are dropped."""

    def __init__(self, **options: Any) -> None:
        detail = "Send a media type, text/csv for example, or leave the member out where there was no body."
        super().__init__(
            max_length=MAX_MEDIA_TYPE, validators=[RegexValidator(MEDIA_TYPE, detail, "media-type")], **options
        )


@extend_schema_field({"type": "string", "enum": PARAMETER_TYPES})
class ParameterType(serializers.Field[str, Any, str, Any]):
    """The JSON type of a path parameter."""

    default_error_messages = {"invalid": f"Send one of {', '.join(PARAMETER_TYPES)}."}

    def to_internal_value(self, data: Any) -> str:
        if data not in PARAMETER_TYPES or not isinstance(data, str):
            self.fail("invalid")
        return data


class Parameter(Form):
    type = ParameterType()


class Parameters(serializers.DictField):
    """The parameters of a path by name: no more than a path can have."""

    default_error_messages = {
        "not_a_dict": "Send an object of parameters by name.",
        "too-many": f"A path has at most {MAX_SEGMENTS} parameters.",
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, dict) and len(data) > MAX_SEGMENTS:
            self.fail("too-many")
        return super().to_internal_value(data)


class SegmentIndexes(serializers.ListField):
    """Indexes of segments of a path: no more than a path can have."""

    default_error_messages = {
        "not_a_list": "Send an array of indexes.",
        "too-many": f"A path has at most {MAX_SEGMENTS} segments.",
    }

    def to_internal_value(self, data: Any) -> list[int]:
        if isinstance(data, list) and len(data) > MAX_SEGMENTS:
            self.fail("too-many")
        return super().to_internal_value(data)


@extend_schema_field(
    {
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {"enum": ["string", "number", "integer", "boolean", "null", "unknown", "array", "object"]},
            "items": {"type": "object", "description": "The descriptor of an array's items."},
            "properties": {"type": "object", "description": "A descriptor by property name."},
            "values": {
                "type": "object",
                "description": "The descriptor of a map's values; a map is an object whose keys are data.",
            },
            "seen": {"type": "integer", "description": "How often a value was there."},
            "nulls": {"type": "integer", "description": "How often it was null."},
            "types": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "description": "How often each type was there, if there were several.",
            },
            "reason": {"enum": ["empty", "divergent", "limit"], "description": "Why the type is unknown."},
            "of": {"enum": ["object"], "description": "What was empty."},
            "redacted": {"type": "boolean", "description": "Whether the name is one of the sensitive ones."},
            "nullable": {"type": "boolean", "description": "Whether it was ever null."},
            "collapsed": {"type": "boolean", "description": "Whether names were left out because they were too many."},
            "format": {"enum": ["binary"], "description": "The values were files, as parts of forms."},
        },
    }
)
class DescriptorField(serializers.Field[Any, Any, Any, Any]):
    """A shape without values. It is parsed by its observation, together with the count."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class WitnessObservation(BatchItem):
    """One method, template, status and UTC day; `count` observations of it."""

    method = ExactText(
        max_length=MAX_METHOD,
        validators=[RegexValidator(TOKEN, "Send the HTTP method in upper case, GET for example.", "method")],
        help_text="The HTTP method in upper case.",
    )
    path = PathTemplate(help_text="The template: /orders/{orderId}.")
    status = Count(min_value=100, max_value=599, help_text="The status of the response.")
    count = Count(help_text="How many observations this sums up.")
    firstSeenAt = Moment(required=False, help_text="When the first was made, in Unix seconds. Default: lastSeenAt.")
    lastSeenAt = Moment(required=False, help_text="When the last was made, in Unix seconds. Default: firstSeenAt.")
    parameters = Parameters(child=Parameter(), required=False, help_text="The type of each path parameter, by name.")
    undecided = SegmentIndexes(
        child=Count(min_value=0),
        required=False,
        help_text="Indexes of the path's segments that may be data; the first is 0.",
    )
    query = DescriptorField(required=False, help_text="The descriptor of the query.")
    request = DescriptorField(required=False, help_text="The descriptor of the request's body.")
    response = DescriptorField(required=False, help_text="The descriptor of the response's body.")
    requestMediaType = MediaType(required=False, help_text="The media type of the request's body.")
    responseMediaType = MediaType(required=False, help_text="The media type of the response's body.")

    def to_internal_value(self, data: Any) -> Observation:
        shapes, faults = _parse_shapes(data) if isinstance(data, Mapping) else ({}, {})
        try:
            members = super().to_internal_value(data)
        except serializers.ValidationError as error:
            member_faults: Any = error.detail
            raise serializers.ValidationError({**member_faults, **faults}) from None
        if faults := {**faults, **find_contradictions(members)}:
            raise serializers.ValidationError(faults)
        return Observation(
            members["method"],
            members["path"],
            members["status"],
            members["count"],
            members.get("firstSeenAt"),
            members.get("lastSeenAt"),
            {name: parameter["type"] for name, parameter in members.get("parameters", {}).items()},
            members.get("undecided", ()),
            shapes,
            members.get("requestMediaType", ""),
            members.get("responseMediaType", ""),
        )


class WitnessReportForm(Form):
    """The body of POST /api/witness-reports."""

    environment = EnvironmentName()
    reportId = UuidText(help_text="Chosen by the reporter: the same report sent again changes nothing.")
    reporter = ExactText(max_length=MAX_REPORTER, required=False, help_text="The name of the program that observed.")
    observations = WitnessObservation(many=True, help_text=f"At most {MAX_ITEMS}.")


def find_contradictions(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contradictions between members that are well-formed by themselves, as faults."""
    faults: dict[str, Any] = {}
    unknown_names = set(members.get("parameters", {})) - set(PARAMETER.findall(members["path"]))
    if unknown_names:
        fault = ErrorDetail("The path has no parameter of this name.", "unknown-parameter")
        faults["parameters"] = {name: [fault] for name in sorted(unknown_names)}
    if positions := _find_wrong_indexes(members.get("undecided", ()), split_path(members["path"])):
        fault = ErrorDetail("Send each index of a literal segment of the path once; the first is 0.", "index")
        faults["undecided"] = {position: [fault] for position in positions}
    if members.get("firstSeenAt") and members.get("lastSeenAt") and members["firstSeenAt"] > members["lastSeenAt"]:
        faults["lastSeenAt"] = [ErrorDetail("Send a last time that is not before the first.", "before-first")]
    return faults


def _find_wrong_indexes(indexes: Sequence[int], segments: Sequence[str]) -> list[int]:
    """Return the positions in `indexes` that name no literal segment, or name one again."""
    return [
        position
        for position, index in enumerate(indexes)
        if index >= len(segments) or PARAMETER.search(segments[index]) or index in indexes[:position]
    ]


def _parse_shapes(data: Mapping[str, Any]) -> tuple[dict[str, Evidence], dict[str, Any]]:
    """Return the evidence of the descriptors of an observation, and their faults."""
    count = whole_number(data.get("count"))
    # A wrong count is a fault of the field `count` only. Counts in the descriptors must not be faults because of it.
    observations = count if count is not None and 1 <= count <= MAX_COUNT else MAX_COUNT
    shapes: dict[str, Evidence] = {}
    faults: dict[str, Any] = {}
    for name in SHAPES:
        if name in data:
            try:
                shapes[name] = from_descriptor(data[name], seen=observations)
            except InvalidDescriptor as error:
                faults[name] = _build_fault_tree(error.faults)
            else:
                faults.update(_find_excess(name, shapes[name], observations))
    return shapes, faults


def _find_excess(name: str, evidence: Evidence, observations: int) -> dict[str, Any]:
    """Return a fault if more values than observations are reported."""
    if evidence.seen <= observations:
        return {}
    detail = "A part cannot be seen more often than the count of its observation."
    return {name: {"seen": [ErrorDetail(detail, "contradictory-counts")]}}


def _build_fault_tree(faults: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Return faults with RFC 6901 pointers in the form of a serializer's errors, a tree."""
    tree: dict[str, Any] = {}
    for pointer, code, detail in faults:
        node = tree
        for token in pointer.split("/")[1:]:
            node = node.setdefault(token.replace("~1", "/").replace("~0", "~"), {})
        node.setdefault(api_settings.NON_FIELD_ERRORS_KEY, []).append(ErrorDetail(detail, code))
    return tree
