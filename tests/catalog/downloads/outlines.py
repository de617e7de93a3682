"""Outlines of operations for the tests of downloads: the entries of `/api/catalog?evidence=0`."""

from __future__ import annotations

from typing import Any

from affidavit import describe, infer

NO_BODY = {"type": "unknown", "reason": "empty"}


def outline(method: str = "GET", path: str = "/orders", **members: Any) -> dict[str, Any]:
    return {
        "method": method, "path": path, "parameters": {}, "query": None, "request": None, "responses": {"200": NO_BODY},
        **members,
    }  # fmt: skip


def shape(value: Any) -> dict[str, Any]:
    return describe(infer(value), counts=False)
