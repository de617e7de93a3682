"""Every successful answer of the sample is valid under the output schema of its tool, before and after its release."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from affidavit import template
from affidavit.operations import strip_names
from catalog.downloads.documents import render_format
from hub.sample.reporters import SampleShapes
from tests.hub.sample.test_history_drift import HOUR, play
from workspaces.create import create_workspace

pytestmark = pytest.mark.django_db


def test_every_success_of_the_sample_is_valid_under_the_output_schema_of_its_tool(monkeypatch):
    answers: list[tuple[tuple[str, str], Any]] = []
    observe = SampleShapes.observe

    def keep_answer(shapes: SampleShapes, method: str, path: str, status: int, **members: Any) -> None:
        in_production = shapes._environment.name == "production"
        if in_production and 200 <= status < 300 and isinstance(members.get("response_body"), bytes):
            answers.append(((method, strip_names(template(path).path)), json.loads(members["response_body"])))
        observe(shapes, method, path, status, **members)

    monkeypatch.setattr(SampleShapes, "observe", keep_answer)
    created = create_workspace("Sample", ["staging"], actor="test", now=timezone.now(), with_full_key=True)
    play(created, hours=1, released_at=HOUR / 2)
    environment = created.workspace.environments.get(name="production")
    tools = json.loads(render_format(environment, "mcp").body)["tools"]
    validators = {
        (method, strip_names(path)): Draft202012Validator(tool["outputSchema"])
        for tool in tools
        if "outputSchema" in tool
        for method, path in [tool["_meta"]["affidavit/operation"].split(" ")]
    }
    checked = [(operation, body) for operation, body in answers if operation in validators]
    assert [operation for operation, body in checked if not validators[operation].is_valid(body)] == []
    assert len(checked) > 100
    assert len(validators) >= 5
