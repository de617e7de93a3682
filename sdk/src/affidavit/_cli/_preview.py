"""The catalog that a hub would make of observations: what `--dry-run` prints (contract 4 and 5)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from affidavit._shapes.evidence import Evidence
from affidavit._shapes.parse import from_descriptor
from affidavit.operations._documents import build_operation_document, has_begun
from affidavit.operations._sums import PARAMETER, Identity, OperationSum, OperationSums, Part, strip_names


def preview(observations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The operations that wire observations make, each as in `GET /api/catalog`, by path, then method."""
    sums = OperationSums()
    for observation in observations:
        sums.add(Identity(observation["method"], strip_names(observation["path"])), _sum_of(observation))
    shown = [build_operation_document(identity, total) for identity, total in sums if has_begun(total)]
    return sorted(shown, key=lambda operation: (operation["path"], operation["method"]))


def _sum_of(observation: Mapping[str, Any]) -> OperationSum:
    """The sum of one observation of our own making, which has its times and types."""
    times, status = observation["count"], observation["status"]
    names = PARAMETER.findall(observation["path"])
    return OperationSum(
        first=observation["firstSeenAt"],
        last=observation["lastSeenAt"],
        statuses=Counter({status: times}),
        names=[Counter({name: times}) for name in names],
        types=[Counter({observation["parameters"][name]["type"]: times}) for name in names],
        evidence=_evidence(observation, times, status),
    )


def _evidence(observation: Mapping[str, Any], times: int, status: int) -> dict[Part, Evidence]:
    parts = {"query": Part("query"), "request": Part("request"), "response": Part("response", status)}
    return {part: from_descriptor(observation[name], seen=times) for name, part in parts.items() if name in observation}
