"""An invented API whose resources are named, not numbered, and the traffic of its users, with true templates."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FIRST = [
    "amber", "brisk", "calm", "dusty", "eager", "faint", "grand", "humble", "ivory", "jolly", "keen",
    "lunar", "misty", "noble", "olive", "plain",
]  # fmt: skip
SECOND = [
    "otter", "falcon", "maple", "harbor", "river", "comet", "lantern", "meadow", "pebble", "quartz",
    "ridge", "saddle", "thicket", "willow",
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    status: int
    request: Any
    response: Any
    template: str


def calls(seed: int, *, identity: str = "name", wrapped: bool = False) -> list[Call]:
    """Traffic in the order of its time. identity: the property that names things. wrapped: under `data`."""
    return list(_Api(random.Random(seed), identity, wrapped).traffic())


class _Api:
    """Warehouses hold shelves, shelves hold crates; couriers stand by themselves."""

    def __init__(self, rng: random.Random, identity: str, wrapped: bool) -> None:
        self._rng = rng
        self._identity = identity
        self._wrapped = wrapped

    def traffic(self) -> Iterator[Call]:
        yield from self._collection("/v1/couriers", "/v1/couriers", {"speed": 3, "active": True}, ["pause", "trips"])
        warehouses = yield from self._collection(
            "/v1/warehouses", "/v1/warehouses", {"city": "Ghent", "shelves": 4, "climate": {"dry": True}}, ["audit"]
        )
        for warehouse in warehouses:
            here, there = f"/v1/warehouses/{warehouse}/shelves", "/v1/warehouses/{}/shelves"
            shelves = yield from self._collection(here, there, {"height": 2.5, "crates": []}, ["lock"])
            for shelf in shelves:
                yield from self._collection(
                    f"{here}/{shelf}/crates", f"{there}/{{}}/crates", {"weight": 1.5, "fragile": False}, []
                )
        yield Call(
            "GET",
            "/v1/warehouses/statistics",
            200,
            None,
            {"total": 4, "busiest": {"hour": 9}},
            "/v1/warehouses/statistics",
        )
        yield Call("POST", "/v1/couriers/search", 200, {"speed": 1}, {"hits": [], "took": 3}, "/v1/couriers/search")

    def _collection(self, path: str, template: str, members: dict[str, Any], parts: list[str]) -> Any:
        names = [self._name() for _ in range(self._rng.randint(2, 4))]
        for name in names:
            made = {self._identity: name, **members}
            yield Call("POST", path, 201, made, self._answer(made), template)
        listed = [{self._identity: name, **members} for name in names]
        yield Call("GET", path, 200, None, {"data": listed, "count": len(listed)}, template)
        for name in names:
            one, of_one = f"{path}/{name}", f"{template}/{{}}"
            yield Call("GET", one, 200, None, self._answer({self._identity: name, **members}), of_one)
            for part in parts:
                yield Call("POST", f"{one}/{part}", 202, None, {"queued": True, "position": 1}, f"{of_one}/{part}")
        yield Call("DELETE", f"{path}/{names[0]}", 204, None, None, f"{template}/{{}}")
        return names

    def _name(self) -> str:
        return f"{self._rng.choice(FIRST)}-{self._rng.choice(SECOND)}"

    def _answer(self, thing: dict[str, Any]) -> dict[str, Any]:
        return {"data": thing} if self._wrapped else thing
