"""Read a streamed download."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.http import HttpResponseBase


def read_tables(response: HttpResponseBase) -> dict[str, list[dict[str, Any]]]:
    return json.loads(response.getvalue())["tables"]


def read_rows(response: HttpResponseBase) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))
