"""pg_dump, pg_restore and psql: from PostgreSQL's wheel, or the system's if the server is newer or demands TLS.

The wheel's programs are built without TLS.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from psycopg.pq import Conninfo

from hub.local.postgresql.programs import find_binaries
from hub.local.startup_errors import StartupError

SYSTEM_FOLDERS = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql@*/bin")
PARAMETERS = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password", "NAME": "dbname"}


def find_connecting_clients(oldest_major: int, database: Mapping[str, Any]) -> Path:
    """Return the folder of programs of this major version or a later one that reach a database; raises StartupError.

    database: Django's settings of it.
    """
    reason = ""
    for folder in find_clients(oldest_major):
        process = subprocess.run(
            [folder / "psql", "--no-psqlrc", "--no-password", "--command=SELECT 1"],
            env=build_environment(database), capture_output=True, text=True,
        )  # fmt: skip
        if process.returncode == 0:
            return folder
        reason = reason or find_first_error(process.stderr)
    raise StartupError(
        f"pg_dump and psql cannot reach the database: {reason}. Those of Affidavit's packages know no TLS: if the "
        f"database demands it, install the client programs of PostgreSQL {oldest_major} or newer."
    )


def find_clients(oldest_major: int) -> Sequence[Path]:
    """Return the folders of programs of this major version or a later one, the best first; raises StartupError."""
    folders = [folder for folder in list_folders() if read_major(folder) >= oldest_major]
    if not folders:
        raise StartupError(
            f"pg_dump, pg_restore and psql of PostgreSQL {oldest_major} or newer are not on this machine. Install the "
            f"client programs of that version."
        )
    return folders


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
    """Return the environment in which the programs reach a database, with the options of its address, such as sslmode.

    database: Django's settings of it.
    """
    values = {**database.get("OPTIONS", {}), **{PARAMETERS[name]: database.get(name) for name in PARAMETERS}}
    variables = {option.keyword.decode(): option.envvar.decode() for option in Conninfo.get_defaults() if option.envvar}
    own = {variable: str(values[name]) for name, variable in variables.items() if values.get(name)}
    return {**os.environ, **own, "PGAPPNAME": "affidavit", "LC_ALL": "C"}


def find_first_error(output: str) -> str:
    """Return the first line that names an error, and no more, because later lines may repeat values."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    return next((line for line in lines if re.search("error:|ERROR|FATAL", line)), lines[0])
