"""What the hub would export of reported observations, made without a database, and which bodies fulfil it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import jsonschema_rs

from affidavit import from_descriptor
from affidavit.operations import OperationSum, OperationSums, build_operation_document, has_begun, strip_names
from catalog.downloads.json_schema import build_schema_document
from catalog.downloads.openapi import MEDIA_TYPE, build_openapi_document
from catalog.evidence.epochs import EpochEvidence, build_visible_part
from catalog.ingest.sanitize import Observation, sum_observations


class Place(NamedTuple):
    """Where a body belongs: a method, a template without names, and `request` or the status of the answer."""

    method: str
    template: str
    part: str


Schemas = Mapping[Place, Mapping[str, Any]]


def fulfilled(bodies: Iterable[tuple[Place, Any]], observations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many bodies of operations in the catalog are valid under both exports, and how many there are."""
    outlines = [*_outlines(observations)]
    exports = (
        of_schemas(build_schema_document("exported", outlines)),
        of_openapi(build_openapi_document("exported", "1", outlines)),
    )
    catalogued = {place[:2] for schemas in exports for place in schemas}
    validators = [
        {place: jsonschema_rs.Draft202012Validator(schema) for place, schema in schemas.items()} for schemas in exports
    ]
    valid = [
        all(place in known and known[place].is_valid(body) for known in validators)
        for place, body in bodies
        if place[:2] in catalogued
    ]
    return sum(valid), len(valid)


def of_schemas(document: Mapping[str, Any]) -> Schemas:
    """The schemas of `schemas.json` by their place; a query stands as the part `query`."""
    parted = ((name.split(" "), schema) for name, schema in document["$defs"].items())
    return {Place(method, strip_names(path), part): schema for (method, path, part), schema in parted}


def of_openapi(document: Mapping[str, Any]) -> Schemas:
    """The schemas of request and response bodies in `openapi.json` by their place."""
    found = {}
    for path, item in document["paths"].items():
        named = {name: operation for name, operation in item.items() if name != "x-methods"}
        for method, operation in (named | item.get("x-methods", {})).items():
            for part, described in {"request": operation.get("requestBody", {}), **operation["responses"]}.items():
                if "content" in described:
                    place = Place(method.upper(), strip_names(path), part)
                    found[place] = described["content"][MEDIA_TYPE]["schema"]
    return found


def _outlines(observations: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The operations as the hub shows them after taking these observations in."""
    sums = OperationSums()
    for _, of_a_day in sum_observations(map(_observation, observations), received_at=datetime.now(UTC)):
        for identity, total in of_a_day:
            sums.add(identity, total)
    for identity, total in sums:
        if has_begun(total):
            yield build_operation_document(identity, _as_shown(total), counts=False)


def _observation(entry: Mapping[str, Any]) -> Observation:
    told = {part: entry[part] for part in ("query", "request", "response") if part in entry}
    return Observation(
        entry["method"],
        entry["path"],
        entry["status"],
        entry["count"],
        first=datetime.fromtimestamp(entry["firstSeenAt"], UTC),
        last=datetime.fromtimestamp(entry["lastSeenAt"], UTC),
        parameters={name: parameter["type"] for name, parameter in entry.get("parameters", {}).items()},
        undecided=entry.get("undecided", ()),
        shapes={part: from_descriptor(shape, seen=entry["count"]) for part, shape in told.items()},
    )


def _as_shown(total: OperationSum) -> OperationSum:
    """With maps by alike values shown as such."""
    total.evidence = {
        part: build_visible_part([EpochEvidence({0: evidence})]).evidence for part, evidence in total.evidence.items()
    }
    return total
