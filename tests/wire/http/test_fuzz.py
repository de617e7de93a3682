"""No call makes the hub fail, whether it fits the served OpenAPI document or not. The document declares every answer.

FUZZ_CASES sets how many calls each endpoint gets (with 160 there are more than 2,000 in all). Normally it is 5.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from hub.api_docs.document import render_document

EXAMPLES = int(os.environ.get("FUZZ_CASES", "5"))
# A schema cannot say which environments exist or how a template is written, so data that fits the schema may get 400.
# An idempotency key or report id that was used before gets 422.
ACCEPTED = ["2xx", "3xx", "400", "401", "403", "404", "409", "422"]
CHECKS = {"positive_data_acceptance": {"expected-statuses": ACCEPTED}}


def load_schema(**checks: Any) -> Any:
    """Return the served OpenAPI document as a schema whose operations can be called.

    checks: changes to CHECKS.
    """
    config = schemathesis.Config.from_dict(
        {
            "checks": {**CHECKS, **checks},
            "generation": {"allow-extra-parameters": False},  # unknown members are ignored (contract §2)
        }
    )
    loaded = schemathesis.openapi.from_dict(json.loads(render_document()), config=config)
    loaded.app = WSGIHandler()
    return loaded


# The document is read in the test, because to build its calls takes seconds, in each process that collects tests.
schema = schemathesis.pytest.from_fixture("served_schema")
quick = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)


@pytest.fixture(autouse=True)
def _connection_stays(db: None) -> Iterator[None]:
    """Keep the test's connection open after a request; otherwise all later requests would get 503."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def served_schema() -> Any:
    return load_schema()


@pytest.mark.timeout(3600)
@schema.parametrize()
@quick
def test_every_answer_is_declared(case: Any, workspace: Any) -> None:
    case.call_and_validate(headers={"x-service-api-key": workspace.full_key, "Host": "localhost"})


@pytest.mark.timeout(3600)
def test_every_answer_to_linked_calls_is_declared(workspace: Any) -> None:
    # The check `ignored_auth` is off, because in linked calls it mistakes the test's key for a generated key.
    schema_of_links = load_schema(ignored_auth={"enabled": False})

    class Calls(schema_of_links.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": {"x-service-api-key": workspace.full_key, "Host": "localhost"}}

    run_state_machine_as_test(Calls, settings=settings(quick, stateful_step_count=6))
