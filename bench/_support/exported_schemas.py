"""Build the hub's exports of observations without a database, and count the bodies that are valid under them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import jsonschema_rs

from affidavit import from_descriptor
from affidavit.operations import OperationSum, OperationSums, build_operation_document, has_begun, is_json, strip_names
from catalog.downloads.openapi import build_openapi_document
from catalog.downloads.schemas.components import REFERENCE_PREFIX
from catalog.downloads.schemas.json_schema import build_schema_document
from catalog.evidence.epoch_sums import EpochEvidence, build_visible_part
from catalog.ingest.observations import Observation, sum_observations


class BodyLocation(NamedTuple):
    """The location of a body: a method, a template without parameter names, and `request` or the response's status."""

    method: str
    template: str
    part: str


Schemas = Mapping[BodyLocation, Mapping[str, Any]]


def count_valid_bodies(
    bodies: Iterable[tuple[BodyLocation, Any]], observations: Sequence[Mapping[str, Any]]
) -> tuple[int, int]:
    """Return how many of the bodies are valid under both exports, and how many were checked.

    A body is checked if its operation is in the catalog.
    """
    operation_documents = [*_build_documents(observations)]
    schemas_of_exports = (
        index_json_schemas(build_schema_document("exported", operation_documents)),
        index_openapi_schemas(build_openapi_document("exported", "1", operation_documents)),
    )
    catalog_operations = {location[:2] for schemas in schemas_of_exports for location in schemas}
    validators = [
        {location: jsonschema_rs.Draft202012Validator(schema) for location, schema in schemas.items()}
        for schemas in schemas_of_exports
    ]
    validities = [
        all(
            location in validators_by_location and validators_by_location[location].is_valid(body)
            for validators_by_location in validators
        )
        for location, body in bodies
        if location[:2] in catalog_operations
    ]
    return sum(validities), len(validities)


def index_json_schemas(document: Mapping[str, Any]) -> Schemas:
    """Return the schemas of `schemas.json` by location. The schema of a query has `query` as its part."""
    named_schemas = ((name.split(" "), schema) for name, schema in document["$defs"].items())
    return {BodyLocation(method, strip_names(path), part): schema for (method, path, part), schema in named_schemas}


def index_openapi_schemas(document: Mapping[str, Any]) -> Schemas:
    """Return the schemas of request and response bodies of `openapi.json` by location, with all references resolved."""
    schemas = {}
    for path, item in resolve_references(document["paths"], document["components"]["schemas"]).items():
        operations = {name: operation for name, operation in item.items() if name != "x-methods"}
        for method, operation in (operations | item.get("x-methods", {})).items():
            for part, description in {"request": operation.get("requestBody", {}), **operation["responses"]}.items():
                for media_type, content in description.get("content", {}).items():
                    if is_json(media_type) and "schema" in content:
                        schemas[BodyLocation(method.upper(), strip_names(path), part)] = content["schema"]
    return schemas


def resolve_references(value: Any, components: Mapping[str, Any]) -> Any:
    """Return a part of an OpenAPI document in which each reference is replaced by its schema from `components`."""
    if isinstance(value, list):
        return [resolve_references(item, components) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        return resolve_references(components[value["$ref"].removeprefix(REFERENCE_PREFIX)], components)
    return {name: resolve_references(inner, components) for name, inner in value.items()}


def _build_documents(observations: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the operations as the hub shows them after folding these observations."""
    sums = OperationSums()
    for _, operation_sums in sum_observations(map(_parse_observation, observations), received_at=datetime.now(UTC)):
        for identity, total in operation_sums:
            sums.add(identity, total)
    for identity, total in sums:
        if has_begun(total):
            yield build_operation_document(identity, _project_evidence(total), counts=False)


def _parse_observation(entry: Mapping[str, Any]) -> Observation:
    descriptors = {part: entry[part] for part in ("query", "request", "response") if part in entry}
    return Observation(
        entry["method"],
        entry["path"],
        entry["status"],
        entry["count"],
        first=datetime.fromtimestamp(entry["firstSeenAt"], UTC),
        last=datetime.fromtimestamp(entry["lastSeenAt"], UTC),
        parameters={name: parameter["type"] for name, parameter in entry.get("parameters", {}).items()},
        undecided=entry.get("undecided", ()),
        shapes={part: from_descriptor(shape, seen=entry["count"]) for part, shape in descriptors.items()},
        request_media_type=entry.get("requestMediaType", ""),
        response_media_type=entry.get("responseMediaType", ""),
    )


def _project_evidence(total: OperationSum) -> OperationSum:
    """Replace the evidence by its projection, in which objects with similar values are maps."""
    total.evidence = {
        part: build_visible_part([EpochEvidence({0: evidence})]).evidence for part, evidence in total.evidence.items()
    }
    return total
