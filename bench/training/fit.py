"""Fit the weights by which the SDK distinguishes data from words in a path, on recordings of many APIs.

    python -m bench.training.fit DIRECTORY [--documents DIRECTORY [--without NAME,...]] [--half API,...]
        [--refine | --new] [--step SHARE] [--write]

`bench/README.md` describes the recordings and the OpenAPI documents. The weights belong to signs: named features of a
segment. The program prints the figures of each API under weights that were fitted on all other APIs. With `--half` it
fits on the named APIs, and on invented and described ones, and prints the figures of all other APIs. `--refine` begins
with the shipped weights. `--new` fits only the signs that have no weight yet. `--step 0.5` moves the shipped weights
half of the way to the fitted ones. `--write` fits on all APIs and writes `affidavit/_paths/signs/weights.py`.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import affidavit._paths.classify as classify
from affidavit._paths.embedded_values import strip_values
from affidavit._paths.learner import Learner, decode_segments
from affidavit._paths.signs.neighbourhood import Neighbourhood, list_sibling_signs
from affidavit._paths.signs.siblings import Prefix, Siblings
from affidavit._paths.signs.traffic import TrafficFacts
from affidavit._paths.tree import PathNode
from bench._support.path_figures import EITHER, PathFigures, average_figures, format_figures, measure_paths
from bench._support.recordings import PathRecording, list_recordings, read_path_recording, take_samples
from bench.training.described_apis import describe_recordings
from bench.training.invented_apis import invent_recordings
from bench.training.logistic import Table, fit_logistic, fit_new_signs

WEIGHTS = Path(classify.__file__).parent / "signs" / "weights.py"
BALANCE = 8.0
SHARES = {"invented": 0.75, "described": 0.1}  # the weight of an API of each source; a recorded API weighs 1
EITHER_SHARE = 0.05  # a segment for which both answers, data and word, are right counts with this share of its weight

Tables = tuple[Table, Table]


@dataclass(frozen=True)
class Example:
    """A segment at one position of a path.

    paths: in how many recorded pairs of a method and a path it is.
    either: whether both answers, data and word, are right.
    """

    api: str
    segment: str
    siblings: Siblings
    is_data: bool
    paths: int
    either: bool

    @property
    def source(self) -> str:
        """Return `invented`, `described` or the recorded API."""
        return self.api.partition("_")[0]

    @property
    def own(self) -> tuple[str, ...]:
        """Return the signs of the segment alone, without those of its neighbours."""
        return self.siblings.own_signs(self.segment)


def learn_all(recording: PathRecording) -> Learner:
    """Return a learner that has seen the whole recording."""
    learner = Learner()
    for exchange in recording.exchanges:
        learner.learn(
            exchange.method, exchange.path, exchange.status, request=exchange.request, response=exchange.response
        )
    return learner


def collect_examples(recording: PathRecording, learner: Learner) -> list[Example]:
    """Return an example for each learned segment of the paths whose true template is known."""
    labels, paths, either = _collect_labels(recording)
    return [
        Example(recording.api, segment, siblings, labels[key], paths[key], key in either)
        for siblings in _walk([learner._root], learner._collect_facts(), (), labels)
        for segment in sorted(siblings.words)
        if (key := (siblings.prefix, segment)) in labels
        and not siblings.is_fixed(segment)
        and segment not in siblings.versions
    ]


def _collect_labels(
    recording: PathRecording,
) -> tuple[dict[tuple[Prefix, str], bool], Counter[tuple[Prefix, str]], set[tuple[Prefix, str]]]:
    """Return whether each segment is data, its `paths` as in Example, and the segments where both answers are right.

    A key is the segments before the segment, with None for each parameter, and the segment itself.
    """
    votes: dict[tuple[Prefix, str], Counter[bool]] = defaultdict(Counter)
    either = set[tuple[Prefix, str]]()
    for (_, path), template in recording.truth.items():
        prefix: tuple[str | None, ...] = ()
        for segment, true in zip(decode_segments(path), template.split("/")[1:], strict=True):
            is_data = "{" in strip_values(true)
            votes[prefix, segment][is_data] += 1
            if EITHER.search(true):
                either.add((prefix, segment))
            prefix = (*prefix, None if is_data else segment)
    labels = {key: counts[True] > counts[False] for key, counts in votes.items()}
    return labels, Counter({key: counts.total() for key, counts in votes.items()}), either


def _walk(
    nodes: Sequence[PathNode], facts: TrafficFacts, prefix: Prefix, labels: Mapping[tuple[Prefix, str], bool]
) -> Iterator[Siblings]:
    siblings = Siblings(nodes, facts, prefix)
    yield siblings
    data = {segment for segment in siblings.words if labels.get((prefix, segment))}
    for segment in sorted(siblings.words.keys() - data):
        yield from _walk(siblings.words[segment], facts, (*prefix, segment), labels)
    following = siblings.collect_data(data)
    if following:
        yield from _walk(following, facts, (*prefix, None), labels)


# --- the fit


def fit(
    examples: Sequence[Example], start: Tables = ({}, {}), shipped: Tables | None = None, *, only_new: bool = False
) -> Tables:
    """Return the weights of both looks at a segment.

    The first look judges a segment alone. The second also uses its neighbours, as the first look judged them.

    start: the weights to begin with; weights near the result save time.
    shipped: the weights to refine; None to fit all weights anew. The weights of the first look are not refined.
    only_new: whether to keep all shipped weights, and fit a weight only for each sign that has none, in both looks.
    """
    weights = _balance(examples)
    own = [(example.own, example.is_data, weight) for example, weight in zip(examples, weights, strict=True)]
    if shipped and only_new:
        first = fit_new_signs(own, shipped[0])
    else:
        first = shipped[0] if shipped else fit_logistic(own, start[0])
    neighbourhoods: dict[int, Neighbourhood] = {}
    rows = []
    for example, weight in zip(examples, weights, strict=True):
        siblings = example.siblings
        if id(siblings) not in neighbourhoods:
            neighbourhoods[id(siblings)] = Neighbourhood(siblings, _look(siblings, first))
        beside = list_sibling_signs(neighbourhoods[id(siblings)], example.segment)
        rows.append(((*example.own, *beside), example.is_data, weight))
    if shipped and only_new:
        return first, fit_new_signs(rows, shipped[1])
    return first, fit_logistic(rows, start[1], shipped and shipped[1])


def move_towards(shipped: Tables, fitted: Tables, step: float) -> Tables:
    """Return weights on the way from the shipped to the fitted ones: 0 is its beginning, 1 its end."""
    first, second = (
        {sign: before.get(sign, 0.0) + step * (weight - before.get(sign, 0.0)) for sign, weight in table.items()}
        for before, table in zip(shipped, fitted, strict=True)
    )
    return first, second


def _look(siblings: Siblings, table: Table) -> dict[str, float]:
    return {
        segment: 0.0
        if siblings.is_fixed(segment)
        else classify.to_probability(sum(table.get(sign, 0.0) for sign in ("", *siblings.own_signs(segment))))
        for segment in siblings.words
    }


def _balance(examples: Sequence[Example]) -> list[float]:
    """Return the weight of each example.

    The weight of a segment grows with the square root of its paths. It is divided by the square root of the number of
    examples of its API, so that a large API does not outweigh the others.
    """
    sizes = Counter(example.api for example in examples)
    return [
        BALANCE
        * (example.paths / sizes[example.api]) ** 0.5
        * SHARES.get(example.source, 1)
        * (EITHER_SHARE if example.either else 1)
        for example in examples
    ]


# --- the report


def measure(recording: PathRecording, learner: Learner, tables: Tables) -> PathFigures:
    """Return the figures of a recording under these weights instead of the shipped ones."""
    shipped = classify.WEIGHTS
    classify.WEIGHTS = join_tables(*tables)
    learner.forget_decision()
    try:
        templates = {call: learner.template(call[1]) for call in recording.truth}
    finally:
        classify.WEIGHTS = shipped
    return measure_paths(templates, recording.truth, recording.counts)


def join_tables(first: Table, second: Table) -> dict[str, tuple[float, float]]:
    return {sign: (first.get(sign, 0.0), weight) for sign, weight in second.items()}


def split_tables(weights: Mapping[str, tuple[float, float]]) -> Tables:
    return {sign: pair[0] for sign, pair in weights.items()}, {sign: pair[1] for sign, pair in weights.items()}


def write_weights(tables: Tables) -> None:
    """Write the module that the SDK ships. The signs of data come first, those of words last."""
    rows = sorted(join_tables(*tables).items(), key=lambda row: (row[0] != "", -row[1][1], row[0]))
    lines = [f"    {_quote(sign)}: ({first:.2f}, {second:.2f})," for sign, (first, second) in rows]
    WEIGHTS.write_text("\n".join([HEADING, *lines, "}", ""]), encoding="utf-8")


def _quote(text: str) -> str:
    return f'"{text}"'


HEADING = '''"""The weight of each sign that a path segment is data. `bench/training/fit.py` writes this file.

The sum of the weights of a segment is the logarithm of its odds to be data. Of the two numbers, the first is for the
look at a segment alone, the second for the look at it with its neighbours. The empty name counts for every segment.
"""

from collections.abc import Mapping

WEIGHTS: Mapping[str, tuple[float, float]] = {'''


def main() -> None:
    options = _read_options()
    recordings = [read_path_recording(path) for path in list_recordings(options.directory)]
    learners = {recording.name: learn_all(recording) for recording in recordings}
    examples = [
        example for recording in recordings for example in collect_examples(recording, learners[recording.name])
    ]
    more = [sample for recording in recordings for sample in take_samples(recording)] + invent_recordings()
    if options.documents:
        more += describe_recordings(options.documents, _split_names(options.without))
    for recording in more:
        examples += collect_examples(recording, learn_all(recording))
    learning_apis = frozenset(_split_names(options.half))
    current = split_tables(classify.WEIGHTS)
    shipped = current if options.refine or options.new else None
    tables = fit(
        [item for item in examples if item.source in learning_apis or item.source in SHARES]
        if learning_apis
        else examples,
        shipped or ({}, {}),
        shipped,
        only_new=options.new,
    )
    figures: dict[str, list[PathFigures]] = defaultdict(list)
    for api, parts in groupby(recordings, key=attrgetter("api")):
        if api in learning_apis:
            continue
        weights = (
            tables
            if learning_apis
            else fit([example for example in examples if example.api != api], tables, shipped, only_new=options.new)
        )
        for recording in parts:
            moved_weights = move_towards(current, weights, options.step)
            figures[api].append(measure(recording, learners[recording.name], moved_weights))
            print(recording.name.ljust(20), format_figures(figures[api][-1]), flush=True)
    print("mean of APIs".ljust(20), format_figures(average_figures(map(average_figures, figures.values()))))
    if options.write:
        write_weights(move_towards(current, fit(examples, tables, shipped, only_new=options.new), options.step))


def _split_names(text: str) -> list[str]:
    return list(filter(None, text.split(",")))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIRECTORY")
    parser.add_argument("--documents", metavar="DIRECTORY")
    parser.add_argument("--without", default="", metavar="NAME,...")
    parser.add_argument("--half", default="", metavar="API,...")
    beginning = parser.add_mutually_exclusive_group()
    beginning.add_argument("--refine", action="store_true")
    beginning.add_argument("--new", action="store_true")
    parser.add_argument("--step", type=float, default=1.0, metavar="SHARE")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
