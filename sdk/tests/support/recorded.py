"""Recorded traffic and published vectors, in the folder `shared` beside the project, if that folder exists."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[4] / "shared"


def require_shared(name: str) -> Path:
    """Return the path of a file or folder of `shared`; skip the test if it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not in the folder `shared` beside the project")
    return path


def read_har_entries(name: str) -> list[dict[str, Any]]:
    """Return the entries of a recorded HAR file, each with its true path template under `_template`."""
    with gzip.open(require_shared(f"traffic/{name}")) as har:
        return list(json.load(har)["log"]["entries"])
