"""Run the programs of signers/, if their interpreters are installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "signers"
COMMANDS = {".mjs": "node", ".pl": "perl", ".java": "java", ".py": sys.executable}
_KINDS = {str: "string", bool: "boolean", int: "number", float: "number"}


def find_interpreter(signer: str) -> str | None:
    """Return the path of the interpreter of a signer such as `perl.pl ascii`; None if it is not installed."""
    return shutil.which(COMMANDS[Path(signer.split()[0]).suffix])


def run_signer(signer: str, text: str) -> str | None:
    """Return the output of a signer for this input; None without its interpreter."""
    command = find_interpreter(signer)
    if command is None:
        return None
    program, *style = signer.split()
    arguments = [command, str(FOLDER / program), *style]
    return subprocess.run(arguments, input=text.encode(), check=True, capture_output=True, timeout=60).stdout.decode()


def build_job(secret: str, payload: Mapping[str, Any]) -> str:
    """Return the input of a signer: the secret, then a line `name TAB kind TAB value` for each member."""
    members = [
        f"{name}\t{_KINDS[type(value)]}\t{value if isinstance(value, str) else json.dumps(value)}"
        for name, value in payload.items()
    ]
    return "\n".join([secret, *members]) + "\n"
