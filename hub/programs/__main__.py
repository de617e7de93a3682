"""Become a program: `python -m hub.programs granian …`, `… celery worker`, `… celery beat`.

Each starts faster and takes less memory than by its own command: granian's would load the application once for each
process, and Celery's would load a shell.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from runpy import run_module

from hub.frame_memory import call_with_frame_memory
from hub.programs.garbage_collection import collect_seldom
from hub.telemetry.logs import log_uncaught_errors


def main() -> None:
    collect_seldom()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    log_uncaught_errors()
    del sys.argv[0]
    if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        import_module("hub.telemetry.tracing").start_tracing("web" if sys.argv[:1] == ["granian"] else sys.argv[-1])
    match sys.argv:
        case ["granian", *_]:
            import_module("hub.asgi")  # shared by the processes that granian forks
            run_module("granian", run_name="__main__")
        case ["celery", "worker" | "beat" as name]:
            sys.exit(import_module(f"hub.programs.{name}").run())
        case _:
            sys.exit(f"affidavit: no such program: {' '.join(sys.argv)}")


if __name__ == "__main__":
    call_with_frame_memory(main)
