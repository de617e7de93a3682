"""The catalog as OpenAPI 3.1 (pure). It has no counts, so more of the same traffic does not change it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from http import HTTPStatus
from typing import Any

from affidavit.operations import PARAMETER, REQUEST, is_json, strip_names
from catalog.downloads.absent_properties import describe_mark, remove_mark
from catalog.downloads.operation_names import name_outlines
from catalog.downloads.operation_summaries import summarize_operation
from catalog.downloads.operation_tags import choose_tag
from catalog.downloads.schemas.components import ComponentSchemas
from catalog.downloads.schemas.json_schema import build_field_schema, build_part_schema, build_schema
from catalog.downloads.schemas.names import Body
from catalog.evidence.outlines import Descriptor, Outline, list_contents

OPENAPI_VERSION = "3.1.0"
OPENAPI_METHODS = frozenset({"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"})
STATUS_PHRASES = {status.value: status.phrase for status in HTTPStatus}
DATA_NAMES = "more"  # the parameter that replaces query parameters whose names are data
# The catalog does not know the API's origin: readers fill in the variable.
SERVERS = [
    {
        "url": "{origin}",
        "description": "Where the API is served",
        "variables": {
            "origin": {
                "default": "https://api.example.com",
                "description": "Scheme and host. They were not observed: put in those of this environment.",
            }
        },
    }
]
SECURITY_SCHEMES = {
    "intent": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Service-Intent",
        "description": "A signed intent for exactly this call, as POST /api/intents of the hub mints it. "
        "Routes that the API exempts from verification take none.",
    }
}


def build_openapi_document(title: str, revision: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """Return a whole description; the version of the API is the `revision` of the catalog."""
    shared_paths = choose_paths(outlines)
    paths: dict[str, dict[str, Any]] = {path: {} for path in sorted(set(shared_paths.values()))}
    schemas = ComponentSchemas()
    for outline, name in zip(outlines, name_outlines(outlines), strict=True):
        path = shared_paths[strip_names(outline["path"])]
        add_operation(paths[path], outline["method"], build_operation(name, path, outline, schemas))
    return {
        "openapi": OPENAPI_VERSION,
        "info": {"title": title, "version": revision},
        "servers": SERVERS,
        "security": [{name: []} for name in SECURITY_SCHEMES],
        "paths": paths,
        "components": {"securitySchemes": SECURITY_SCHEMES, "schemas": schemas.build()},
    }


def choose_paths(outlines: Sequence[Outline]) -> dict[str, str]:
    """Return the path to use for each template without names.

    OpenAPI forbids two paths that differ only in the names of their parameters.
    """
    paths: dict[str, str] = {}
    for outline in outlines:
        paths.setdefault(strip_names(outline["path"]), outline["path"])
    return paths


def add_operation(path_item: dict[str, Any], method: str, operation: dict[str, Any]) -> None:
    """Add an operation. OpenAPI knows eight methods; an operation of another method goes under `x-methods`."""
    if method in OPENAPI_METHODS:
        path_item[method.lower()] = operation
    else:
        path_item.setdefault("x-methods", {})[method] = operation


def build_operation(name: str, path: str, outline: Outline, schemas: ComponentSchemas) -> dict[str, Any]:
    """Return one operation; the objects of its bodies are added to `schemas`."""
    method = outline["method"]
    operation: dict[str, Any] = {"operationId": name, "summary": summarize_operation(method, path)}
    if tag := choose_tag(path):
        operation["tags"] = [tag]
    if parameters := [*build_path_parameters(path, outline), *build_query_parameters(outline["query"] or {})]:
        operation["parameters"] = parameters
    if content := build_content(outline, Body(name, method, path, REQUEST), schemas):
        operation["requestBody"] = {"content": content}
    operation["responses"] = {
        status: build_response(outline, Body(name, method, path, status), schemas) for status in outline["responses"]
    }
    return operation


def build_path_parameters(path: str, outline: Outline) -> Iterator[dict[str, Any]]:
    """Yield the parameters by position, under the names in `path`, which may be those of another method."""
    for name, descriptor in zip(PARAMETER.findall(path), outline["parameters"].values(), strict=True):
        yield {"name": name, "in": "path", "required": True, "schema": build_schema(descriptor)}


def build_query_parameters(query: Descriptor) -> Iterator[dict[str, Any]]:
    properties = query.get("properties", {})
    for name, descriptor in properties.items():
        schema = build_field_schema(remove_mark(descriptor))
        yield {"name": name, "in": "query", "schema": schema, **describe_mark(descriptor)}
    if "values" in query:
        schema = {"type": "object", "additionalProperties": build_field_schema(query["values"])}
        name = find_unused_name(DATA_NAMES, properties)
        yield {"name": name, "in": "query", "style": "form", "explode": True, "schema": schema}


def find_unused_name(name: str, used_names: Container[str]) -> str:
    return find_unused_name(f"{name}_", used_names) if name in used_names else name


def build_response(outline: Outline, body: Body, schemas: ComponentSchemas) -> dict[str, Any]:
    response: dict[str, Any] = {"description": STATUS_PHRASES.get(int(body.part), f"Status {body.part}")}
    content = build_content(outline, body, schemas)
    return {**response, "content": content} if content else response


def build_content(outline: Outline, body: Body, schemas: ComponentSchemas) -> dict[str, Any]:
    """Return the bodies of a part by media type: JSON and forms have one schema."""
    contents = list_contents(outline, body.part)
    shape = next((shape for shape in contents.values() if shape is not None), None)
    schema = {} if shape is None else {"schema": schemas.add(build_part_schema(outline, body.part, shape), body)}
    return {
        media_type: build_content_without_shape(media_type) if media_shape is None else schema
        for media_type, media_shape in contents.items()
    }


def build_content_without_shape(media_type: str) -> dict[str, Any]:
    """Return the content of bodies whose shape is not known: a text is a string, bytes are a file, JSON is anything.

    Code generators leave out a request body without a schema, or even its operation.
    """
    if media_type.startswith("text/"):
        return {"schema": {"type": "string"}}
    if media_type == "application/octet-stream":
        return {"schema": {"type": "string", "format": "binary"}}
    return {"schema": {}} if is_json(media_type) else {}
