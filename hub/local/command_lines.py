"""The command lines and environment variables of the programs of a hub: web server, worker and beat."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.conf import settings

from hub.local.listening_address import find_address
from hub.local.supervision.plan import Command
from hub.metrics.views import DIRECTORY_VARIABLE
from hub.web.server_options import list_server_options

PROGRAMS = ("web", "worker", "beat")


def list_arguments() -> dict[str, list[str]]:
    """Return the command lines of PROGRAMS, by name."""
    program = [sys.executable, "-W", "ignore:You're running the worker", "-m", "hub.programs"]
    web = [*program, "granian", "--interface", "asginl", "hub.asgi:application"]
    web += list_server_options(find_address(settings.HUB_HOST), settings.HUB_PORT)
    # `nice` gives worker and beat a lower priority than the web server.
    return {"web": web, "worker": ["nice", *program, "celery", "worker"], "beat": ["nice", *program, "celery", "beat"]}


def build_command(name: str) -> Command:
    """Return the process of this name; `name` is one of PROGRAMS."""
    variables = {**list_variables(), DIRECTORY_VARIABLE: str(metrics_folder())}
    if name == "web":
        variables["DJANGO_SETTINGS_MODULE"] = "hub.web_role_settings"
    return Command(name, list_arguments()[name], variables, str(settings.BASE_DIR))


def list_variables() -> dict[str, str]:
    """Return the variables that the processes need because they start in another folder, the project's."""
    return {"PYTHONPATH": os.pathsep.join(sys.path), "HUB_DATA_DIR": str(settings.HUB_DATA_DIR)}


def metrics_folder() -> Path:
    return Path(settings.HUB_DATA_DIR / "metrics")
