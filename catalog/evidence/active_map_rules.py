"""The map rules in force: by them, objects of a part are shown as maps or with their properties."""

from __future__ import annotations

from collections.abc import Mapping

from affidavit import Evidence
from affidavit.operations import Part, part_key
from catalog.evidence.maps import apply_maps
from catalog.models import Operation

QUERY = "query"  # the fields of a query are parameters, so only a map rule shows their names as keys of a map

PartMaps = Mapping[Part, Mapping[str, int]]
"""The number of names of each object that is shown as a map, by part and pointer."""


def load_map_rules(operation: Operation) -> dict[str, dict[str, bool]]:
    """Return by part and pointer whether an active rule makes a node a map. The latest rule of a node applies."""
    rules: dict[str, dict[str, bool]] = {}
    for rule in operation.map_rules.all():
        if rule.undone_at is None:
            rules.setdefault(rule.part, {}).setdefault(rule.pointer, rule.as_map)
    return rules


def apply_map_rules(
    evidence: Mapping[Part, Evidence], rules: Mapping[str, Mapping[str, bool]]
) -> tuple[dict[Part, Evidence], PartMaps]:
    """Return every part with its maps shown as maps, and the number of names of each map."""
    with_maps: dict[Part, Evidence] = {}
    maps: dict[Part, Mapping[str, int]] = {}
    for part, part_evidence in evidence.items():
        part_rules = rules.get(part_key(part), {})
        with_maps[part], maps[part] = apply_maps(part_evidence, part_rules, by_likeness=part.name != QUERY)
    return with_maps, maps
