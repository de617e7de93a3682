"""The catalog as OpenAPI 3.1 (pure). It holds nothing that counting changes, and nothing that was not observed."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from http import HTTPStatus
from typing import Any

from affidavit.operations import PARAMETER, strip_names
from catalog.downloads.component_schemas import ComponentSchemas
from catalog.downloads.json_schema import build_schema
from catalog.downloads.operation_names import name_outlines
from catalog.downloads.resources import choose_tag, summarize_operation
from catalog.downloads.schema_names import Body
from catalog.evidence.outlines import Descriptor, Outline, has_body

OPENAPI_VERSION = "3.1.0"
OPENAPI_METHODS = frozenset({"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"})
STATUS_PHRASES = {status.value: status.phrase for status in HTTPStatus}
MEDIA_TYPE = "application/json"
DATA_NAMES = "more"  # the parameter that stands for query parameters whose names are data
# A catalog does not know where its API is served: readers fill in the variable.
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
    """Return one path by nameless template: OpenAPI has no two that differ only in the names of parameters."""
    paths: dict[str, str] = {}
    for outline in outlines:
        paths.setdefault(strip_names(outline["path"]), outline["path"])
    return paths


def add_operation(path_item: dict[str, Any], method: str, operation: dict[str, Any]) -> None:
    """Add an operation; one of a method that OpenAPI does not know goes under `x-methods`, so that it is not lost."""
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
    if outline["request"] is not None:
        content = build_content(outline["request"], Body(name, method, path, "request"), schemas)
        operation["requestBody"] = {"content": content}
    operation["responses"] = {
        status: build_response(Body(name, method, path, status), descriptor, schemas)
        for status, descriptor in outline["responses"].items()
    }
    return operation


def build_path_parameters(path: str, outline: Outline) -> Iterator[dict[str, Any]]:
    """Yield the parameters by position: the names are those of `path`, which may be another method's."""
    for name, descriptor in zip(PARAMETER.findall(path), outline["parameters"].values(), strict=True):
        yield {"name": name, "in": "path", "required": True, "schema": build_schema(descriptor)}


def build_query_parameters(query: Descriptor) -> Iterator[dict[str, Any]]:
    properties = query.get("properties", {})
    for name, descriptor in properties.items():
        yield {"name": name, "in": "query", "schema": build_schema(descriptor)}
    if "values" in query:
        schema = {"type": "object", "additionalProperties": build_schema(query["values"])}
        name = find_unused_name(DATA_NAMES, properties)
        yield {"name": name, "in": "query", "style": "form", "explode": True, "schema": schema}


def find_unused_name(name: str, used_names: Container[str]) -> str:
    return find_unused_name(f"{name}_", used_names) if name in used_names else name


def build_response(body: Body, descriptor: Descriptor, schemas: ComponentSchemas) -> dict[str, Any]:
    response: dict[str, Any] = {"description": STATUS_PHRASES.get(int(body.part), f"Status {body.part}")}
    return {**response, "content": build_content(descriptor, body, schemas)} if has_body(descriptor) else response


def build_content(descriptor: Descriptor, body: Body, schemas: ComponentSchemas) -> dict[str, Any]:
    return {MEDIA_TYPE: {"schema": schemas.add(build_schema(descriptor), body)}}
