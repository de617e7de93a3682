"""Workspaces with a catalog of so many operations, reported over HTTP as any reporter does."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit import describe, infer
from bench._outcomes_data import connect

AT_ONCE = 100  # operations in a report
NOUNS = ("orders", "customers", "invoices", "shipments", "refunds", "carts", "prices", "stocks", "returns", "coupons")
MEMBERS = ("status", "total", "currency", "createdAt", "note", "quantity", "email", "address", "paid", "reference")
VALUES: tuple[Any, ...] = ("text", 7, 1.5, True, None, ["text"], {"id": 1, "name": "text"}, [{"id": 1, "tax": 0.2}])
WAITING = "SELECT count(*) FROM catalog_witnessreport WHERE folded_at IS NULL"


@dataclass(frozen=True)
class Catalog:
    """A workspace that was filled, and what opens it."""

    slug: str
    key: str


def fill(operations: int, address: str, folder: Path) -> Catalog:
    """A new workspace with so many operations in production; the last of them has a shape of 2,000 nodes."""
    command = [sys.executable, "manage.py", "create_workspace", "--json", f"Catalog {uuid.uuid4()}"]
    made = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    observations = [*all_of(operations - 1), large()]
    began = time.perf_counter()
    for begin in range(0, operations, AT_ONCE):
        post(address, made["secretKey"], observations[begin : begin + AT_ONCE])
    with connect(folder) as connection:
        while connection.execute(WAITING).fetchone() != (0,):
            time.sleep(0.5)
        connection.execute("VACUUM ANALYZE")
    print(f"{operations:,} operations reported and folded in {time.perf_counter() - began:.0f} s", flush=True)
    return Catalog(made["slug"], made["secretKey"])


def all_of(operations: int) -> Iterator[dict[str, Any]]:
    """Operations of a large API: each of a few methods on its own resource, a body of some thirty places."""
    chance = random.Random(5)
    for number in range(operations):
        path = f"/{chance.choice(NOUNS)}/{{id}}/{chance.choice(NOUNS)}-{letters(number)}/{{itemId}}"
        yield observation(chance.choice(["GET", "GET", "GET", "POST", "PUT"]), path, body(chance))


def observation(method: str, path: str, value: Any) -> dict[str, Any]:
    shape = describe(infer(value))
    asked = {"request": shape} if method in ("POST", "PUT") else {}
    return {"method": method, "path": path, "status": 200, "count": 1, "response": shape, **asked}


def body(chance: random.Random) -> dict[str, Any]:
    names = chance.sample(MEMBERS, 8)
    inner = {name: chance.choice(VALUES) for name in chance.sample(MEMBERS, 6)}
    return {"id": 1, **{name: chance.choice(VALUES) for name in names}, "lines": [inner], "links": {"self": "text"}}


def large() -> dict[str, Any]:
    """2,000 places: the body, 9 objects, 22 objects in each of them, 9 members in each of those, and a few more."""
    places = {f"group{letters(n)}": {f"part{letters(m)}": dict.fromkeys(MEMBERS[:9], 1) for m in range(22)}
              for n in range(9)}  # fmt: skip
    places["rest"] = {f"more{letters(n)}": n for n in range(9)}
    return observation("GET", "/large", places)


def letters(number: int) -> str:
    """A word for a number: a number in a path would be data."""
    return "".join("bcdfghklmn"[int(digit)] + "a" for digit in str(number))


def post(address: str, key: str, observations: list[dict[str, Any]]) -> None:
    report = {"reportId": str(uuid.uuid4()), "observations": observations}
    head = {"x-service-api-key": key, "content-type": "application/json"}
    request = urllib.request.Request(f"{address}/api/witness-reports", json.dumps(report).encode(), head)
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
