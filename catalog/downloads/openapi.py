"""The catalog as OpenAPI 3.1 (pure). Holds nothing that counting changes, and nothing that was not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from affidavit.operations import PARAMETER, nameless
from catalog.downloads.json_schema import schema_of
from catalog.downloads.operation_names import operation_names
from catalog.evidence.outlines import Descriptor, Outline, has_body

VERSION = "3.1.0"
METHODS = frozenset({"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"})
PHRASES = {status.value: status.phrase for status in HTTPStatus}
MEDIA_TYPE = "application/json"
MORE_QUERY = "more"  # stands for query parameters whose names are data


def document(title: str, revision: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """A whole description; `revision` of the catalog is its version."""
    named = names_of_templates(outlines)
    names = operation_names([(outline["method"], outline["path"]) for outline in outlines])
    paths: dict[str, dict[str, Any]] = {path: {} for path in sorted(set(named.values()))}
    for outline, name in zip(outlines, names, strict=True):
        path = named[nameless(outline["path"])]
        add(paths[path], outline["method"], operation(name, path, outline))
    return {"openapi": VERSION, "info": {"title": title, "version": revision}, "paths": paths}


def names_of_templates(outlines: Sequence[Outline]) -> dict[str, str]:
    """One path by nameless template: OpenAPI has no two that differ only in the names of parameters."""
    named: dict[str, str] = {}
    for outline in outlines:
        named.setdefault(nameless(outline["path"]), outline["path"])
    return named


def add(item: dict[str, Any], method: str, described: dict[str, Any]) -> None:
    """A method that OpenAPI does not know stands under `x-methods`, so that it is not lost."""
    if method in METHODS:
        item[method.lower()] = described
    else:
        item.setdefault("x-methods", {})[method] = described


def operation(name: str, path: str, outline: Outline) -> dict[str, Any]:
    described: dict[str, Any] = {"operationId": name}
    if parameters := [*path_parameters(path, outline), *query_parameters(outline["query"] or {})]:
        described["parameters"] = parameters
    if outline["request"] is not None:
        described["requestBody"] = {"content": content(outline["request"])}
    described["responses"] = {status: response(status, answer) for status, answer in outline["responses"].items()}
    return described


def path_parameters(path: str, outline: Outline) -> Iterator[dict[str, Any]]:
    """By position: the names are those of `path`, which another method may have given."""
    for name, told in zip(PARAMETER.findall(path), outline["parameters"].values(), strict=True):
        yield {"name": name, "in": "path", "required": True, "schema": schema_of(told)}


def query_parameters(query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, descriptor in query.get("properties", {}).items():
        yield {"name": name, "in": "query", "schema": schema_of(descriptor)}
    if "values" in query:
        free = {"type": "object", "additionalProperties": schema_of(query["values"])}
        name = unused(MORE_QUERY, query.get("properties", {}))
        yield {"name": name, "in": "query", "style": "form", "explode": True, "schema": free}


def unused(name: str, taken: Mapping[str, Any]) -> str:
    return unused(f"{name}_", taken) if name in taken else name


def response(status: str, answer: Descriptor) -> dict[str, Any]:
    described: dict[str, Any] = {"description": PHRASES.get(int(status), f"Status {status}")}
    return {**described, "content": content(answer)} if has_body(answer) else described


def content(descriptor: Descriptor) -> dict[str, Any]:
    return {MEDIA_TYPE: {"schema": schema_of(descriptor)}}
