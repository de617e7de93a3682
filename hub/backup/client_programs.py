"""pg_dump, pg_restore and psql: those of the wheel, or the system's where the server is newer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hub.local.postgres_programs import find_binaries
from hub.local.startup_errors import StartupError

SYSTEM_FOLDERS = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql@*/bin")
VARIABLES = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}
TOO_NEW = b"SET transaction_timeout = 0;\n"  # of pg_restore 17 and later; servers before 17 do not know it
CHUNK_BYTES = 1024 * 1024


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
    """Return the major version of the programs in a folder; 0 where they cannot be used."""
    try:
        output = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return 0
    version = re.search(r"\) (\d+)", output)
    return int(version[1]) if version and (folder / "psql").exists() else 0


def build_environment(database: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment in which the programs reach a database. database: Django's settings of it."""
    own = {variable: str(database[name]) for name, variable in VARIABLES.items() if database.get(name)}
    return {**os.environ, **own, "PGAPPNAME": "affidavit", "LC_ALL": "C"}


def dump_database(folder: Path, database: Mapping[str, Any], path: Path, *, snapshot: str) -> None:
    """Write a dump in pg_dump's custom format into a file that exists; raises StartupError."""
    command: Sequence[str | Path] = [
        folder / "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--no-password",
        f"--snapshot={snapshot}", f"--file={path}",
    ]  # fmt: skip
    process = subprocess.run(command, env=build_environment(database), capture_output=True, text=True)
    if process.returncode != 0:
        raise StartupError(f"pg_dump failed: {find_first_error(process.stderr)}")


def restore_dump(folder: Path, path: Path, database: Mapping[str, Any]) -> None:
    """Restore a dump in one transaction, also into an older server than the programs'; raises StartupError."""
    read: Sequence[str | Path] = [folder / "pg_restore", "--no-owner", "--no-privileges", "--file=-", path]
    write: Sequence[str | Path] = [
        folder / "psql", "--no-psqlrc", "--quiet", "--no-password", "--single-transaction", "--set=ON_ERROR_STOP=1",
        f"--output={os.devnull}",
    ]  # fmt: skip
    environment = build_environment(database)
    with (
        subprocess.Popen(read, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as reader,
        subprocess.Popen(write, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as writer,
    ):
        if not (reader.stdout and writer.stdin and writer.stderr):
            raise AssertionError("both ends are pipes")
        with suppress(BrokenPipeError):  # psql ended at an error, which it has written
            copy_script(reader.stdout, writer.stdin)
        reader.stdout.close()
        if is_half := reader.wait() != 0 and writer.poll() is None:
            writer.kill()  # at the end of its input it would commit the half that came
        with suppress(BrokenPipeError):
            writer.stdin.close()
        if is_half:
            raise StartupError("pg_restore failed: the backup cannot be read. Nothing was restored.")
        errors = writer.stderr.read().decode(errors="replace")
        if writer.wait() != 0:
            raise StartupError(f"the backup was not restored: {find_first_error(errors)}")


def copy_script(source: Any, target: Any) -> None:
    """Copy the SQL of a dump without the one setting in its head that older servers do not know."""
    for line in source:
        if line == TOO_NEW:
            break
        target.write(line)
        if line.startswith((b"CREATE", b"COPY")):
            break
    shutil.copyfileobj(source, target, CHUNK_BYTES)


def find_first_error(output: str) -> str:
    """Return the first line that names an error: those after it may repeat values."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    return next((line for line in lines if re.search("error:|ERROR|FATAL", line)), lines[0])
