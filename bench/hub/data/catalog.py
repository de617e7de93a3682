"""Fill workspaces with a catalog of a given number of operations, over HTTP as any reporter does."""

from __future__ import annotations

import json
import random
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit import describe, infer
from bench.hub.data.workspaces import connect, create_workspace

OPERATIONS_PER_REPORT = 100
NOUNS = ("orders", "customers", "invoices", "shipments", "refunds", "carts", "prices", "stocks", "returns", "coupons")
MEMBERS = ("status", "total", "currency", "createdAt", "note", "quantity", "email", "address", "paid", "reference")
VALUES: tuple[Any, ...] = ("text", 7, 1.5, True, None, ["text"], {"id": 1, "name": "text"}, [{"id": 1, "tax": 0.2}])
COUNT_UNFOLDED = "SELECT count(*) FROM catalog_witnessreport WHERE folded_at IS NULL"


@dataclass(frozen=True)
class Catalog:
    """A filled workspace: its slug, and a key for it."""

    slug: str
    key: str


def fill(operations: int, address: str, folder: Path) -> Catalog:
    """Create a workspace with `operations` operations in production; the last of them has a shape of 2,000 nodes."""
    workspace = create_workspace(f"Catalog {uuid.uuid4()}")
    observations = [*generate_observations(operations - 1), build_large_observation()]
    start = time.perf_counter()
    for first in range(0, operations, OPERATIONS_PER_REPORT):
        post_report(address, workspace["secretKey"], observations[first : first + OPERATIONS_PER_REPORT])
    with connect(folder) as connection:
        while connection.execute(COUNT_UNFOLDED).fetchone() != (0,):
            time.sleep(0.5)
        connection.execute("VACUUM ANALYZE")
    print(f"{operations:,} operations reported and folded in {time.perf_counter() - start:.0f} s", flush=True)
    return Catalog(workspace["slug"], workspace["secretKey"])


def generate_observations(operations: int) -> Iterator[dict[str, Any]]:
    """Yield the operations of a large API: each on its own resource, with a body of some thirty nodes."""
    chance = random.Random(5)
    for number in range(operations):
        path = f"/{chance.choice(NOUNS)}/{{id}}/{chance.choice(NOUNS)}-{spell_number(number)}/{{itemId}}"
        yield build_observation(chance.choice(["GET", "GET", "GET", "POST", "PUT"]), path, build_body(chance))


def build_observation(method: str, path: str, value: Any) -> dict[str, Any]:
    shape = describe(infer(value))
    request_part = {"request": shape} if method in ("POST", "PUT") else {}
    return {"method": method, "path": path, "status": 200, "count": 1, "response": shape, **request_part}


def build_body(chance: random.Random) -> dict[str, Any]:
    names = chance.sample(MEMBERS, 8)
    line = {name: chance.choice(VALUES) for name in chance.sample(MEMBERS, 6)}
    return {"id": 1, **{name: chance.choice(VALUES) for name in names}, "lines": [line], "links": {"self": "text"}}


def build_large_observation() -> dict[str, Any]:
    """Return an observation of 2,000 nodes: the body, 9 objects with 22 objects each, 9 members in each of these,
    and some more.
    """
    properties = {
        f"group{spell_number(n)}": {f"part{spell_number(m)}": dict.fromkeys(MEMBERS[:9], 1) for m in range(22)}
        for n in range(9)
    }
    properties["rest"] = {f"more{spell_number(n)}": n for n in range(9)}
    return build_observation("GET", "/large", properties)


def spell_number(number: int) -> str:
    """Return a word for a number, because a number in a path would be data."""
    return "".join("bcdfghklmn"[int(digit)] + "a" for digit in str(number))


def post_report(address: str, key: str, observations: list[dict[str, Any]]) -> None:
    report = {"reportId": str(uuid.uuid4()), "observations": observations}
    headers = {"x-service-api-key": key, "content-type": "application/json"}
    request = urllib.request.Request(f"{address}/api/witness-reports", json.dumps(report).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        response.read()
