"""The workspaces that benchmarks fill: made by command, read by a connection to the hub's database."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from hub.local.postgresql.server import Server

SELECT_WORKSPACE_IDS = """
SELECT environment.id, key.id
FROM workspaces_workspace AS workspace
JOIN workspaces_environment AS environment
  ON environment.workspace_id = workspace.id AND environment.name = 'production'
JOIN workspaces_apikey AS key ON key.workspace_id = workspace.id AND key.kind = 'secret'
WHERE slug = %(slug)s
"""


@dataclass(frozen=True)
class BenchWorkspace:
    """A filled workspace: its slug, its environment's id, its number of conversations, a key, and the hub's folder.

    A workspace that was filled with verifications has the number of their tallies in `conversations`.
    """

    slug: str
    environment: int
    conversations: int
    key: str
    folder: Path


def connect(folder: Path) -> psycopg.Connection[Any]:
    settings = Server(folder).connection_settings()
    return psycopg.connect(
        host=settings["HOST"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=settings["NAME"],
        autocommit=True,
    )


def create_workspace(name: str) -> dict[str, Any]:
    """Create a workspace with one full key; return what the command prints."""
    command = [sys.executable, "manage.py", "create_workspace", "--full-key", "--json", name]
    workspace: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return workspace
