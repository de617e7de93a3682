"""Every recorded body is valid under the hub's exports of its schema: JSON Schema and OpenAPI (contract §5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
import pytest
from django.utils import timezone
from openapi_spec_validator import OpenAPIV31SpecValidator

from affidavit.operations import strip_names
from bench._support.exported_schemas import BodyLocation, index_json_schemas, index_openapi_schemas
from catalog.evidence.parts import build_part_shapes, list_part_nodes
from tests.catalog.reports import environment_of
from tests.catalog.test_recorded_traffic import deliver, exchanges, observe_file
from workspaces.create import NewWorkspace, create_workspace

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("recorded bodies")]


class Recorded(NamedTuple):
    """The bodies of a file of recorded traffic, and the workspace to which all of it was reported."""

    bodies: list[tuple[BodyLocation, Any]]
    created: NewWorkspace
    api: Any


@pytest.fixture(scope="module", params=["linode.har.gz", "datadog.har.gz"])
def recorded(request: pytest.FixtureRequest, shared: Path, module_rows: None, connect: Any) -> Recorded:
    file = shared / "traffic" / request.param
    if not file.exists():
        pytest.skip("the recorded traffic is not here")
    created = create_workspace(request.param, [], actor="test", now=timezone.now(), with_full_key=True)
    api = connect(created)
    deliver(api, created, observe_file(file))
    return Recorded(list(read_bodies(file)), created, api)


def read_bodies(file: Path) -> Iterator[tuple[BodyLocation, Any]]:
    """Yield each body that has a shape, with its location: method, template, and `request` or the status.

    The parameters of the template have no names.
    """
    for method, path, status, entry in exchanges(file):
        response_text = entry["response"]["content"].get("text")
        request_text = entry["request"].get("postData", {}).get("text")
        if response_text:
            yield BodyLocation(method, strip_names(path), str(status)), json.loads(response_text)
        if request_text and 200 <= status < 400:
            yield BodyLocation(method, strip_names(path), "request"), json.loads(request_text)


def test_no_object_of_the_recorded_traffic_is_taken_for_a_map(recorded):
    """If a looser rule for maps makes this test fail, check each object that the rule then finds."""
    operations = environment_of(recorded.created).operations.prefetch_related(
        "parts", "baseline_resets", "map_rules", "shown_here"
    )
    shapes = [shape for operation in operations for shape in build_part_shapes(operation)]
    assert sum(1 for shape in shapes for _ in list_part_nodes(shape)) > 5000
    assert [shape.maps for shape in shapes if shape.maps] == []


def test_every_body_of_the_recorded_traffic_is_valid_under_its_schema(recorded):
    openapi = json.loads(recorded.api.get("/api/catalog/openapi.json").getvalue())
    assert OpenAPIV31SpecValidator(openapi).is_valid()
    exported = [
        index_json_schemas(json.loads(recorded.api.get("/api/catalog/schemas.json").getvalue())),
        index_openapi_schemas(openapi),
    ]
    assert exported[0].keys() - {key for key in exported[0] if key[2] == "query"} == exported[1].keys()
    operations = {(method, path) for method, path, _ in exported[1]}
    for schemas in exported:
        validators = {key: jsonschema_rs.Draft202012Validator(schema) for key, schema in schemas.items()}
        checked = 0
        for key, body in recorded.bodies:
            if key[:2] in operations:
                assert validators[key].is_valid(body), key
                checked += 1
        assert checked > 2000


def test_every_2xx_body_of_the_recorded_traffic_is_valid_under_the_output_schema_of_its_tool(recorded):
    tools = json.loads(recorded.api.get("/api/catalog/mcp.json").getvalue())["tools"]
    operations = [tool["_meta"]["affidavit/operation"].split(" ") for tool in tools]
    validators = {
        (method, strip_names(path)): jsonschema_rs.Draft202012Validator(tool["outputSchema"])
        for (method, path), tool in zip(operations, tools, strict=True)
        if "outputSchema" in tool
    }
    successes = [(key[:2], body) for key, body in recorded.bodies if key[2].startswith("2")]
    checked = [(operation, body) for operation, body in successes if operation in validators]
    assert [operation for operation, body in checked if not validators[operation].is_valid(body)] == []
    assert len(checked) > 1000
