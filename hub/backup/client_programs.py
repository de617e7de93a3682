"""pg_dump, pg_restore and psql: from PostgreSQL's wheel, or the system's if the server is newer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hub.local.postgresql.programs import find_binaries
from hub.local.startup_errors import StartupError

SYSTEM_FOLDERS = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql@*/bin")
VARIABLES = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}


def find_clients(oldest_major: int) -> Path:
    """Return the folder of client programs of this major version or a later one; raises StartupError."""
    for folder in list_folders():
        if read_major(folder) >= oldest_major:
            return folder
    raise StartupError(
        f"pg_dump, pg_restore and psql of PostgreSQL {oldest_major} or newer are not on this machine. Install the "
        f"client programs of that version."
    )


def list_folders() -> Iterator[Path]:
    with suppress(StartupError):  # no wheel for this machine
        yield find_binaries()
    if program := shutil.which("pg_dump"):
        yield Path(program).resolve().parent
    for pattern in SYSTEM_FOLDERS:
        yield from Path("/").glob(pattern)


def read_major(folder: Path) -> int:
    """Return the major version of the programs in a folder; 0 if they cannot be used."""
    try:
        output = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return 0
    version = re.search(r"\) (\d+)", output)
    return int(version[1]) if version and (folder / "psql").exists() else 0


def build_environment(database: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment in which the programs reach a database.

    database: Django's settings of it.
    """
    own = {variable: str(database[name]) for name, variable in VARIABLES.items() if database.get(name)}
    return {**os.environ, **own, "PGAPPNAME": "affidavit", "LC_ALL": "C"}


def find_first_error(output: str) -> str:
    """Return the first line that names an error, and no more, because later lines may repeat values."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    return next((line for line in lines if re.search("error:|ERROR|FATAL", line)), lines[0])
