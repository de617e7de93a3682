"""A program of the hub collects no garbage while it is loaded, and begins once it is loaded."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

from django.apps import apps
from django.conf import settings

START_PROGRAMS = """
import gc
from types import SimpleNamespace
from hub.programs import beat
from hub.programs.garbage_collection import collect_seldom
collect_seldom()
print("loading", gc.isenabled())
beat.app.Beat = lambda **options: SimpleNamespace(run=lambda: print("beat", gc.isenabled()))
beat.run()
gc.disable()
import hub.asgi
print("web", gc.isenabled(), gc.get_freeze_count() > 100_000)
"""


def test_beat_and_the_web_server_collect_once_they_are_loaded(tmp_path: Path) -> None:
    environment = {**os.environ, "HUB_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", START_PROGRAMS]
    process = subprocess.run(
        command, env=environment, cwd=settings.BASE_DIR, check=True, capture_output=True, text=True
    )
    assert process.stdout.splitlines() == ["loading False", "beat True", "web True True"]


def test_commands_and_the_worker_collect_once_all_apps_are_loaded() -> None:
    app_configs = list(apps.get_app_configs())
    assert app_configs[-1].name == "hub", "what is loaded after it would be traversed in vain"
    gc.disable()
    try:
        app_configs[-1].ready()
        assert gc.isenabled()
    finally:
        gc.enable()
