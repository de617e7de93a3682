"""Guess which new property replaces one that is no longer seen (pure). A property replaces at most one other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from affidavit import Evidence, describe


def find_successors(
    parent: Evidence, absent: Mapping[str, int], ruled_out: Collection[str], latecomers: Collection[str]
) -> dict[str, str]:
    """Return new names by old ones, for the properties of `parent` that have a successor.

    absent: the number of objects in which each property has been absent, by its name.
    ruled_out: names that are absent themselves, and those that are already the successor of another.
    latecomers: names that were first seen after many objects without them.

    If several properties have the same successor, it goes to the one with the most similar name, and to none if two are
    equally similar.
    """
    candidates = {
        name: _find_successor(parent, name, objects, ruled_out, latecomers) for name, objects in absent.items()
    }
    claims: dict[str, list[str]] = {}
    for name, successor in candidates.items():
        if successor:
            claims.setdefault(successor, []).append(name)
    winners = {successor: _find_most_similar(successor, names) for successor, names in claims.items()}
    return {name: successor for name, successor in candidates.items() if successor and winners[successor] == name}


def _find_successor(
    parent: Evidence, name: str, absent: int, ruled_out: Collection[str], latecomers: Collection[str]
) -> str:
    """Return the only property that could be the new name of an absent one, or ""."""
    candidates = [
        candidate for candidate in _list_candidates(parent, name, absent, latecomers) if candidate not in ruled_out
    ]
    return candidates[0] if len(candidates) == 1 else ""


def _list_candidates(parent: Evidence, name: str, absent: int, latecomers: Collection[str]) -> Iterator[str]:
    """Yield properties of the same shape that came when the absent one vanished.

    There are two cases. Either the property was first seen on or after the last day of the absent one, as far as the
    days are known, in at most as many objects as lacked the absent one. Or old and new versions of a server answered
    side by side: the property came late, and both together were seen as often as there are objects.
    """
    old, objects = parent.properties[name], parent.counts.get("object", 0)
    for candidate, node in parent.properties.items():
        replaced_at_once = 0 < node.seen <= absent and _began_after(node, old)
        replaced_by_and_by = candidate in latecomers and old.seen + node.seen == objects
        if (replaced_at_once or replaced_by_and_by) and _describe_shape(node) == _describe_shape(old):
            yield candidate


def _began_after(node: Evidence, old: Evidence) -> bool:
    return node.first is None or old.last is None or node.first >= old.last


def _describe_shape(node: Evidence) -> dict[str, Any]:
    """Return the descriptor without the mark of a sensitive name, which changes with the name."""
    shape = describe(node, counts=False)
    shape.pop("redacted", None)
    return shape


def _find_most_similar(new_name: str, names: Collection[str]) -> str | None:
    """Return the name that is most similar to the new one; None if two are equally similar."""
    similarity = {name: SequenceMatcher(None, name.lower(), new_name.lower()).ratio() for name in names}
    best = [name for name in names if similarity[name] == max(similarity.values())]
    return best[0] if len(best) == 1 else None
