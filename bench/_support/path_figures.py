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
    in_one_group: of the operations with parameters and several paths, those whose paths are one group; None if there
        is no such operation.
    """

    exact: float
    leaks: float
    held_back: float
    over_merged: float
    in_one_group: float | None


def measure_paths(
    templates: Mapping[Call, Template], truth: Mapping[Call, str], counts: Mapping[Call, int]
) -> PathFigures:
    """Compare learned templates with true ones.

    counts: exchanges by method and path.
    """
    learned_templates = {call: _mark_parameters(templates[call].path) for call in truth}
    true_templates = {call: _mark_parameters(template) for call, template in truth.items()}
    total = sum(counts[call] for call in truth)
    leaks = [
        call
        for call in truth
        if not templates[call].undecided and _leaks(learned_templates[call], true_templates[call])
    ]
    groups, operations = _group(learned_templates), _group(true_templates)
    one_group_flags = [
        _is_one_group(calls, true_templates, groups)
        for (_, segments), calls in operations.items()
        if "{}" in segments and len(calls) > 1
    ]
    mixed_groups = sum(len({true_templates[call] for call in calls}) > 1 for calls in groups.values())
    return PathFigures(
        exact=sum(_agree(learned_templates[call], true_templates[call]) for call in truth) / len(truth),
        leaks=sum(counts[call] for call in leaks) / total,
        held_back=sum(counts[call] for call in truth if templates[call].undecided) / total,
        over_merged=mixed_groups / len(groups),
        in_one_group=sum(one_group_flags) / len(one_group_flags) if one_group_flags else None,
    )


def _mark_parameters(template: str) -> tuple[str, ...]:
    """Return the segments of a template: `{}` for a parameter, `{?}` where a parameter and a word are both right."""
    marked = EITHER.sub("{?}", template)
    return tuple(
        "{?}" if "{?}" in segment else "{}" if _PARAMETER.search(segment) else segment for segment in marked.split("/")
    )


def _agree(learned_segments: Sequence[str], true_segments: Sequence[str]) -> bool:
    """Return whether each learned segment is right."""
    return all(
        right == "{?}" or (learned == "{}") == (right == "{}")
        for learned, right in zip(learned_segments, true_segments, strict=True)
    )


def _leaks(learned_segments: Sequence[str], true_segments: Sequence[str]) -> bool:
    """Return whether a learned template holds a value: a literal in place of a parameter."""
    return any(right == "{}" != learned for learned, right in zip(learned_segments, true_segments, strict=True))


def _group(segments_by_call: Mapping[Call, tuple[str, ...]]) -> dict[tuple[str, tuple[str, ...]], set[Call]]:
    groups: dict[tuple[str, tuple[str, ...]], set[Call]] = defaultdict(set)
    for (method, path), segments in segments_by_call.items():
        groups[method, segments].add((method, path))
    return groups


def _is_one_group(
    calls: set[Call], true_templates: Mapping[Call, tuple[str, ...]], groups: Mapping[object, Iterable[Call]]
) -> bool:
    """Return whether the paths of an operation are one group, or one for each word of its fixed sets."""
    sets = [set(group) for group in groups.values()]
    if calls in sets:
        return True
    parts: dict[tuple[str, ...], set[Call]] = defaultdict(set)
    for method, path in calls:
        words = zip(true_templates[method, path], path.split("/"), strict=True)
        parts[tuple(word for mark, word in words if mark == "{?}")].add((method, path))
    return all(part in sets for part in parts.values())


def average_figures(figures: Iterable[PathFigures]) -> PathFigures:
    """Return the mean of each figure."""
    rows = list(figures)
    shares = [row.in_one_group for row in rows if row.in_one_group is not None]
    return PathFigures(
        exact=_mean([row.exact for row in rows]),
        leaks=_mean([row.leaks for row in rows]),
        held_back=_mean([row.held_back for row in rows]),
        over_merged=_mean([row.over_merged for row in rows]),
        in_one_group=_mean(shares) if shares else None,
    )


def format_figures(figures: PathFigures) -> str:
    in_one_group = "-" if figures.in_one_group is None else f"{100 * figures.in_one_group:.1f}"
    return (
        f"exact {100 * figures.exact:5.1f} %, leave with a value {100 * figures.leaks:4.1f} %, "
        f"held back {100 * figures.held_back:4.1f} %, over-merged {100 * figures.over_merged:4.1f} %, "
        f"several paths as one {in_one_group:>5} %"
    )


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
