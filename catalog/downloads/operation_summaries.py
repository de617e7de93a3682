"""Describe an operation in words: its resource and its summary (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from affidavit.operations import PARAMETER, is_scaffold, singularize, split_words

VERBS = {
    "GET": "Get",
    "HEAD": "Check",
    "POST": "Post to",
    "PUT": "Replace",
    "PATCH": "Change",
    "DELETE": "Delete",
    "OPTIONS": "List the options of",
    "TRACE": "Trace",
}


@dataclass(frozen=True)
class Resource:
    """A run of literal segments, which name what a path is about.

    is_one: whether a parameter follows that selects one, as in `/cart/lines/{lineId}`.
    """

    words: tuple[str, ...]
    is_one: bool

    @property
    def singular(self) -> tuple[str, ...]:
        return (*self.words[:-1], singularize(self.words[-1]))

    @property
    def own_words(self) -> tuple[str, ...]:
        return self.singular if self.is_one else self.words

    def describe(self) -> str:
        """Return `orders`, or `an order` if a parameter selects one."""
        text = " ".join(self.own_words)
        return f"{'an' if text[0] in 'aeio' else 'a'} {text}" if self.is_one else text


@lru_cache(maxsize=64)  # a path is asked for several times in a row
def parse_resources(path: str) -> tuple[Resource, ...]:
    """Return the resources of a path, outermost first: `/v1/orders/{orderId}/lines` → an order, lines.

    A prefix such as `/api/v1` counts as a resource only if the path ends after it. A parameter counts as one only if
    the path has nothing else but a prefix.
    """
    prefix_run, *later_runs = split_literals(path)
    runs = later_runs if is_prefix(*prefix_run) else (prefix_run, *later_runs)
    resources = tuple(
        Resource(tuple(words), is_one)
        for segments, is_one in runs
        if (words := [word for segment in segments for word in split_words(segment)])
    )
    names = [tuple(split_words(name)) for name in PARAMETER.findall(path)]
    return resources or tuple(Resource(words, is_one=True) for words in names if words)


@lru_cache(maxsize=64)
def split_literals(path: str) -> tuple[tuple[list[str], bool], ...]:
    """Return each run of literal segments, and whether a parameter follows."""
    first, *later = PARAMETER.sub("{}", path).split("{}")
    # Text after a parameter in the same segment is left out, such as `.json` in `{id}.json`.
    runs = [drop_prefix(first), *(text.partition("/")[2] for text in later)]
    return tuple((run.split("/"), index < len(later)) for index, run in enumerate(runs))


def is_prefix(segments: Sequence[str], is_one: bool) -> bool:
    """Return whether the first literals of a path say only which API it is, and a parameter follows: `/v1/{id}`."""
    return is_one and all(map(is_scaffold, segments))


def drop_prefix(path: str) -> str:
    """Return a path without its prefix: `/api/v1/orders/` → `orders/`; a path that is only a prefix stays."""
    segments = path.split("/")
    while segments and is_scaffold(segments[0]):
        segments = segments[1:]
    return "/".join(segments) or path


def summarize_operation(method: str, path: str) -> str:
    """Return `Get an order` for `GET /orders/{orderId}`: the method as a verb, then the resource in words."""
    resources = [resource.describe() for resource in reversed(parse_resources(path))]
    return f"{VERBS.get(method, method)} {' of '.join(resources) or 'the root'}"
