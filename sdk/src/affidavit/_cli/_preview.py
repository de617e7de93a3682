"""Preview the catalog that a hub would make of observations: the output of `--dry-run` (contract §4 and §5)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from affidavit._paths.no_operation_statuses import NO_OPERATION
from affidavit._shapes.descriptor_to_evidence import from_descriptor
from affidavit._shapes.evidence import Evidence
from affidavit.operations._documents import build_operation_document, has_begun
from affidavit.operations._identity import PARAMETER, Identity, strip_names
from affidavit.operations._operation_sums import OperationSum, OperationSums, Part, build_media_types


def count_operations(observations: Iterable[Mapping[str, Any]]) -> Mapping[Identity, int]:
    """Return how often each operation of wire observations was observed, without reading their shapes."""
    statuses: dict[Identity, Counter[int]] = defaultdict(Counter)
    for observation in observations:
        statuses[_identify(observation)][observation["status"]] += observation["count"]
    return {identity: counts.total() for identity, counts in statuses.items() if not NO_OPERATION.issuperset(counts)}


def preview_catalog(observations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the operations of wire observations, each as in `GET /api/catalog`, sorted by path and method."""
    sums = OperationSums()
    for observation in observations:
        sums.add(_identify(observation), _build_sum(observation))
    documents = [build_operation_document(identity, total) for identity, total in sums if has_begun(total)]
    return sorted(documents, key=lambda operation: (operation["path"], operation["method"]))


def _identify(observation: Mapping[str, Any]) -> Identity:
    return Identity(observation["method"], strip_names(observation["path"]))


def _build_sum(observation: Mapping[str, Any]) -> OperationSum:
    """Return the sum of one observation. It has its times and parameter types, because this program made it."""
    count, status = observation["count"], observation["status"]
    names = PARAMETER.findall(observation["path"])
    media_types = build_media_types(status, observation.get("requestMediaType"), observation.get("responseMediaType"))
    return OperationSum(
        first=observation["firstSeenAt"],
        last=observation["lastSeenAt"],
        statuses=Counter({status: count}),
        names=[Counter({name: count}) for name in names],
        types=[Counter({observation["parameters"][name]["type"]: count}) for name in names],
        evidence=_read_evidence(observation, count, status),
        media_types={key: Counter({media_type: count}) for key, media_type in media_types.items()},
    )


def _read_evidence(observation: Mapping[str, Any], count: int, status: int) -> dict[Part, Evidence]:
    parts = {"query": Part("query"), "request": Part("request"), "response": Part("response", status)}
    return {part: from_descriptor(observation[name], seen=count) for name, part in parts.items() if name in observation}
