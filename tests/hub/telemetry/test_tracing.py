"""With OTEL_EXPORTER_OTLP_ENDPOINT, requests, statements and tasks are traced, and no value is sent."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from hub import environment_variables
from hub.local.startup_errors import StartupError
from tests.hub.hub_process import ROOT, Hub, running_hub, wait_for

BACK_WITHIN = 60  # seconds
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
VALUE = "value-of-a-customer"


class Receiver:
    """A server that receives traces (OTLP) on a free port."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in [*self.bodies]]
        scopes = [scope for item in requests for part in item.resource_spans for scope in part.scope_spans]
        return [span for scope in scopes for span in scope.spans]

    def names(self, trace_id: str) -> set[str]:
        return {span.name for span in self.spans if span.trace_id.hex() == trace_id}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


@pytest.fixture(scope="module")
def new_hub(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("a folder")) as hub:
        hub.settings |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{receiver.server.server_port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "LOG_LEVEL": "INFO",
        }
        yield hub


@pytest.fixture(scope="module")
def key(new_hub: Hub) -> str:
    return str(new_hub.copy_workspace()["secretKey"])


@pytest.fixture(scope="module")
def hub(new_hub: Hub, key: str) -> Hub:
    new_hub.start()
    return new_hub


@pytest.mark.xdist_group("whole hub")
def test_a_request_its_statements_and_its_task_are_one_trace(hub, key, receiver):
    body = {
        "reportId": str(uuid.uuid4()),
        "observations": [{"method": "GET", "path": f"/{VALUE}", "status": 200, "count": 1}],
    }
    headers = {"traceparent": f"00-{TRACE_ID}-00f067aa0ba902b7-01", "X-Own": VALUE, "User-Agent": VALUE}
    assert hub.request(f"/api/witness-reports?x={VALUE}", body, key=key, headers=headers)[0] == 202
    expected = {"POST api/witness-reports", "run/catalog.tasks.fold", "INSERT"}
    wait_for(lambda: expected <= receiver.names(TRACE_ID), BACK_WITHIN)
    lines = [json.loads(line) for line in hub.output.splitlines() if TRACE_ID in line]
    assert {line["traceId"] for line in lines} == {TRACE_ID}


@pytest.mark.xdist_group("whole hub")
def test_no_value_of_a_request_is_in_a_span(hub, key, receiver):
    trace_id = uuid.uuid4().hex
    headers = {
        "traceparent": f"00-{trace_id}-00f067aa0ba902b7-01",
        "X-Own": VALUE,
        "User-Agent": VALUE,
        "Referer": VALUE,
        "tracestate": f"vendor={VALUE}",
        "baggage": f"user={VALUE}",
    }
    item = {"conversationId": VALUE, "outcomeKey": VALUE}
    observation = {"method": "GET", "path": f"/{VALUE}", "status": 200, "count": 1}
    for path, body in [
        ("/api/conversation-outcomes", {"outcomes": [item]}),
        ("/api/conversation-outcomes", {"outcomes": [{**item, "environment": VALUE}], "environment": VALUE}),
        (f"/sign-in/{VALUE}", None),
        (f"/w/{VALUE}/{VALUE}/overview?q={VALUE}", None),
        (f"/{VALUE}", None),
        ("/api/witness-reports", {"reportId": str(uuid.uuid4()), "observations": [observation]}),
    ]:
        hub.request(path, body, key=key, headers=headers)
    expected = {
        "POST api/conversation-outcomes",
        "GET sign-in/<str:token>",
        "GET w/<slug:slug>/<str:environment>/overview",
        "run/catalog.tasks.fold",
    }
    wait_for(lambda: expected <= receiver.names(trace_id), BACK_WITHIN)
    assert VALUE.encode() not in b"".join(receiver.bodies)
    assert key.encode() not in b"".join(receiver.bodies)
    assert b"127.0.0.1" not in b"".join(receiver.bodies)


def test_without_an_address_for_traces_no_module_of_opentelemetry_is_imported():
    code = (
        "import sys; sys.argv = ['process', 'nothing']; import hub.programs.__main__, hub.settings, hub.telemetry.logs;"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_an_address_for_traces_is_refused_while_the_packages_for_them_are_not_installed(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setattr(environment_variables, "find_spec", lambda name: None)
    with pytest.raises(StartupError, match=r"requirements/otel\.txt"):
        environment_variables.check_tracing()
    monkeypatch.undo()
    assert environment_variables.has_module("os.path")
    assert not environment_variables.has_module("no_such_folder.module")
    assert (Path(ROOT) / "requirements/otel.txt").exists()
