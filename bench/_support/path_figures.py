"""Measure how many learned path templates of one recorded API are right. The true templates of the API are known.

A true template has `{name}` for a parameter. It has `{name?}` where the API has a fixed set of words (`/records/TXT`):
there, a parameter and the word itself are both right.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from affidavit._paths.templates import Template

Call = tuple[str, str]
"""A method and a raw path."""

EITHER = re.compile(r"\{[^{}]*\?\}")
_PARAMETER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class PathFigures:
    """The figures of one API, as shares from 0 to 1.

    exact: paths whose template is right.
    leaks: exchanges reported with a value in their path.
    held_back: exchanges whose path is not decided.
    over_merged: learned groups with paths of several operations. A group has all paths with the same template.
    several: among the operations with parameters and several paths, the share whose paths are one group; None if no
        operation is of this kind.
    """

    exact: float
    leaks: float
    held_back: float
    over_merged: float
    several: float | None


def measure_paths(
    templates: Mapping[Call, Template], truth: Mapping[Call, str], counts: Mapping[Call, int]
) -> PathFigures:
    """Compare learned templates with true ones.

    counts: exchanges by method and path.
    """
    learned = {call: _mark_parameters(templates[call].path) for call in truth}
    true = {call: _mark_parameters(template) for call, template in truth.items()}
    total = sum(counts[call] for call in truth)
    leaks = [call for call in truth if not templates[call].undecided and _leaks(learned[call], true[call])]
    groups, operations = _group(learned), _group(true)
    several = [
        _is_one_group(calls, true, groups)
        for (_, segments), calls in operations.items()
        if "{}" in segments and len(calls) > 1
    ]
    mixed = sum(len({true[call] for call in calls}) > 1 for calls in groups.values())
    return PathFigures(
        exact=sum(_agree(learned[call], true[call]) for call in truth) / len(truth),
        leaks=sum(counts[call] for call in leaks) / total,
        held_back=sum(counts[call] for call in truth if templates[call].undecided) / total,
        over_merged=mixed / len(groups),
        several=sum(several) / len(several) if several else None,
    )


def _mark_parameters(template: str) -> tuple[str, ...]:
    """Return the segments of a template: `{}` for a parameter, `{?}` where a parameter and a word are both right."""
    marked = EITHER.sub("{?}", template)
    return tuple(
        "{?}" if "{?}" in segment else "{}" if _PARAMETER.search(segment) else segment for segment in marked.split("/")
    )


def _agree(learned: Sequence[str], true: Sequence[str]) -> bool:
    return all(b == "{?}" or (a == "{}") == (b == "{}") for a, b in zip(learned, true, strict=True))


def _leaks(learned: Sequence[str], true: Sequence[str]) -> bool:
    return any(b == "{}" != a for a, b in zip(learned, true, strict=True))


def _group(segments_by_call: Mapping[Call, tuple[str, ...]]) -> dict[tuple[str, tuple[str, ...]], set[Call]]:
    groups: dict[tuple[str, tuple[str, ...]], set[Call]] = defaultdict(set)
    for (method, path), segments in segments_by_call.items():
        groups[method, segments].add((method, path))
    return groups


def _is_one_group(
    calls: set[Call], true: Mapping[Call, tuple[str, ...]], groups: Mapping[object, Iterable[Call]]
) -> bool:
    """Return whether the paths of an operation are one group, or one for each word of its fixed sets."""
    sets = [set(group) for group in groups.values()]
    if calls in sets:
        return True
    parts: dict[tuple[str, ...], set[Call]] = defaultdict(set)
    for method, path in calls:
        words = zip(true[method, path], path.split("/"), strict=True)
        parts[tuple(word for mark, word in words if mark == "{?}")].add((method, path))
    return all(part in sets for part in parts.values())


def average_figures(figures: Iterable[PathFigures]) -> PathFigures:
    """Return the mean of each figure."""
    rows = list(figures)
    several = [row.several for row in rows if row.several is not None]
    return PathFigures(
        exact=_mean([row.exact for row in rows]),
        leaks=_mean([row.leaks for row in rows]),
        held_back=_mean([row.held_back for row in rows]),
        over_merged=_mean([row.over_merged for row in rows]),
        several=_mean(several) if several else None,
    )


def format_figures(figures: PathFigures) -> str:
    several = "-" if figures.several is None else f"{100 * figures.several:.1f}"
    return (
        f"exact {100 * figures.exact:5.1f} %, leave with a value {100 * figures.leaks:4.1f} %, "
        f"held back {100 * figures.held_back:4.1f} %, over-merged {100 * figures.over_merged:4.1f} %, "
        f"several paths as one {several:>5} %"
    )


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
