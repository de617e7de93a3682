"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Result:
    """The result of one check.

    cure: what to do about the fault; empty if the detail says it.
    """

    state: Literal["ok", "wrong", "skipped"]
    detail: str
    cure: str = ""
