"""Runs the programs of signers/, and keeps what is committed where an interpreter is not at hand."""

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


def interpreter(signer: str) -> str | None:
    """Where the interpreter of a signer (`perl.pl ascii`, say) is; None if this machine has none."""
    return shutil.which(COMMANDS[Path(signer.split()[0]).suffix])


def run(signer: str, text: str) -> str | None:
    """What the signer writes for this input; None without its interpreter."""
    command = interpreter(signer)
    if command is None:
        return None
    program, *style = signer.split()
    called = [command, str(FOLDER / program), *style]
    return subprocess.run(called, input=text.encode(), check=True, capture_output=True, timeout=60).stdout.decode()


def job(secret: str, payload: Mapping[str, Any]) -> str:
    """What a signer reads: the secret, then a line `name TAB kind TAB value` for each member."""
    members = [
        f"{name}\t{_KINDS[type(value)]}\t{value if isinstance(value, str) else json.dumps(value)}"
        for name, value in payload.items()
    ]
    return "\n".join([secret, *members]) + "\n"
