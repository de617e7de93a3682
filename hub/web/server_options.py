"""The options of the web server: its processes, its limits, the deadline for the head of a request, its log."""

from __future__ import annotations

from pathlib import Path

SERVER_LOGS = Path(__file__).with_name("server_logs.json")  # its own log lines as JSON, without secrets
PROCESSES = 2
MAX_CONNECTIONS = 4096  # of each web process
HEADER_MILLISECONDS = 10_000  # for the head of a request, counted from the connection or from the previous request


def list_server_options(address: str, port: int) -> list[str]:
    """Return the options of granian."""
    options = ["--host", address, "--port", str(port)]
    options += ["--workers", str(PROCESSES), "--backlog", str(MAX_CONNECTIONS), "--backpressure", str(MAX_CONNECTIONS)]
    # Not HTTP/2: with both versions, the server would wait without a limit until it knows which one a client speaks.
    options += ["--http", "1", "--http1-header-read-timeout", str(HEADER_MILLISECONDS)]
    options += ["--log-config", str(SERVER_LOGS), "--log-level", "warning"]
    return [*options, "--no-ws", "--respawn-failed-workers", "--workers-kill-timeout", "10"]
