"""How right is the catalog made of recorded traffic? Templates against their truth, shapes against the bodies.

Reads the two recordings of `../shared/traffic` and every HAR that `HAR` names (several with the separator of
PATH) or that is given to `python -m bench.accuracy`. Truth is in the entries, as `_template`. Scored are the
distinct (method, path) of 2xx answers with a true template; parameters are compared without their names.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit._har.entries import Exchange, read_har
from affidavit._har.scan import scan
from affidavit._json import ABSENT, Absent
from affidavit._paths.learner import Learner
from affidavit._paths.templates import Template
from affidavit._witness.observations import Observations
from affidavit.operations import strip_names
from bench._exported_schemas import Place, fulfilled
from bench._shape_figures import Bodies, emptied_arrays, nulls_beside_one_type, properties_kept

TRAFFIC = Path(__file__).parents[2] / "shared" / "traffic"
RECORDED = ("datadog.har.gz", "linode.har.gz")

Group = tuple[str, str]
"""A method and a template without the names of its parameters."""


@dataclass(frozen=True)
class Scored:
    """What was recorded, learned and true. templates, truth: by method and raw path. recorded: all JSON bodies."""

    templates: Mapping[tuple[str, str], Template]
    truth: Mapping[tuple[str, str], str]
    bodies: Bodies
    recorded: Sequence[tuple[Place, Any]]
    observations: Sequence[Mapping[str, Any]]

    def grouped(self) -> dict[Group, set[tuple[str, str]]]:
        return _by_group({key: self.templates[key].path for key in self.truth})

    def truly_grouped(self) -> dict[Group, set[tuple[str, str]]]:
        return _by_group(self.truth)


def score(path: str | os.PathLike[str]) -> Scored:
    """Learn from a whole HAR, then take its traffic as `affidavit har` does."""
    exchanges = [item for item in _recorded(path) if isinstance(item[0], Exchange)]
    learner = Learner()
    for exchange, _ in exchanges:
        learner.learn(
            exchange.method,
            exchange.path,
            exchange.status,
            request=_json(exchange.request),
            response=_json(exchange.response),
        )
    templates = {(exchange.method, exchange.path): learner.template(exchange.path) for exchange, _ in exchanges}
    observations, bodies, recorded = Observations(), Bodies(), list[tuple[Place, Any]]()
    for exchange, _ in exchanges:
        template = templates[exchange.method, exchange.path]
        request, answer = _json(exchange.request), _json(exchange.response)
        observations.add(exchange.method, template, exchange.status, at=exchange.at, request=request, response=answer)
        recorded += _placed(exchange, template, request, answer)
        if 200 <= exchange.status < 300 and not isinstance(answer, Absent):
            bodies.add((exchange.method, template.path, exchange.status), answer)
    truth = {
        (exchange.method, exchange.path): true
        for exchange, true in exchanges
        if true is not None and 200 <= exchange.status < 300
    }
    return Scored(templates, truth, bodies, recorded, list(observations.entries()))


# --- figures


def exact(scored: Scored) -> str:
    right = sum(strip_names(scored.templates[key].path) == strip_names(true) for key, true in scored.truth.items())
    return _share(right, len(scored.truth))


def operations(scored: Scored) -> str:
    found = _sets(scored.grouped())
    truly = _sets(scored.truly_grouped())
    return _share(len(truly & found), len(truly))


def several_paths(scored: Scored) -> str:
    """Operations with a parameter and two or more paths whose paths came out as one group."""
    found = _sets(scored.grouped())
    truly = [
        frozenset(paths)
        for (_, template), paths in scored.truly_grouped().items()
        if "{}" in template and len(paths) > 1
    ]
    return _share(sum(paths in found for paths in truly), len(truly))


def groups(scored: Scored) -> str:
    return f"{len(scored.grouped()) / max(1, len(scored.truly_grouped())):.2f}"


def over_merged(scored: Scored) -> str:
    made = scored.grouped()
    mixed = sum(len({strip_names(scored.truth[key]) for key in paths}) > 1 for paths in made.values())
    return _share(mixed, len(made), digits=2)


def undecided(scored: Scored) -> str:
    return _share(sum(bool(scored.templates[key].undecided) for key in scored.truth), len(scored.truth))


FIGURES: Mapping[str, Callable[[Scored], str]] = {
    "exact %": exact,
    "operations %": operations,
    "several paths %": several_paths,
    "groups": groups,
    "over-merged %": over_merged,
    "undecided %": undecided,
    "properties kept %": lambda scored: _share(*properties_kept(scored.bodies, scored.observations), digits=2),
    "null and one type, unknown": lambda scored: _of(*nulls_beside_one_type(scored.bodies, scored.observations)),
    "array at times empty, unknown": lambda scored: _of(*emptied_arrays(scored.bodies, scored.observations)),
    "valid under exports %": lambda scored: _share(*fulfilled(scored.recorded, scored.observations), digits=2),
}
"""The lines of the table: what each is called, and how it is found."""

REACH = {
    "exact %": "98 / 99.5",
    "several paths %": "98 / 98",
    "over-merged %": "0.50 or less",
    "properties kept %": "100",
    "null and one type, unknown": "0",
    "array at times empty, unknown": "0",
    "valid under exports %": "100",
}
"""What figures have to come to; two where the recordings differ, other files shall have 95 % exact."""


# --- the table


def main(files: Sequence[str]) -> None:
    rows = []
    for file in files:
        begin = time.perf_counter()
        scored = score(file)
        took = f"{time.perf_counter() - begin:.1f}"
        rows.append([Path(file).name, *(figure(scored) for figure in FIGURES.values()), took])
    heads = ["", *FIGURES, "seconds"]
    for head, *cells in zip(heads, *rows, ["reach", *(REACH.get(name, "") for name in FIGURES), ""], strict=True):
        print(head.ljust(30), *(cell.rjust(max(18, len(cell))) for cell in cells))


def files_to_score(arguments: Sequence[str]) -> list[str]:
    named = [*arguments, *filter(None, os.environ.get("HAR", "").split(os.pathsep))]
    recorded = [str(TRAFFIC / name) for name in RECORDED if (TRAFFIC / name).exists()]
    if not recorded:
        print(f"No recorded traffic in {TRAFFIC.name}/ beside the repository; only what HAR names is scored.")
    return [*recorded, *named]


def _recorded(path: str | os.PathLike[str]) -> Iterator[tuple[Any, str | None]]:
    """What the reader makes of each entry, and its true template."""
    for item, entry in zip(read_har(path, now=time.time()), scan(path), strict=True):
        true = entry.get("_template") if isinstance(entry, dict) else None
        yield item, true if isinstance(true, str) else None


def _json(body: Any) -> Any:
    """A body that was left out is absent."""
    return body if body is None or isinstance(body, (bool, int, float, str, list, dict)) else ABSENT


def _placed(exchange: Exchange, template: Template, request: Any, response: Any) -> Iterator[tuple[Place, Any]]:
    """The bodies whose shape is reported, each with where it belongs."""
    key = exchange.method, strip_names(template.path)
    if 200 <= exchange.status < 400 and not isinstance(request, Absent):
        yield Place(*key, "request"), request
    if not isinstance(response, Absent):
        yield Place(*key, str(exchange.status)), response


def _by_group(templates: Mapping[tuple[str, str], str]) -> dict[Group, set[tuple[str, str]]]:
    found: dict[Group, set[tuple[str, str]]] = defaultdict(set)
    for (method, path), template in templates.items():
        found[method, strip_names(template)].add((method, path))
    return found


def _sets(grouped: Mapping[Group, Iterable[tuple[str, str]]]) -> set[frozenset[tuple[str, str]]]:
    return {frozenset(paths) for paths in grouped.values()}


def _share(part: int, whole: int, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f}" if whole else "-"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}"


if __name__ == "__main__":
    called_directly = Path(sys.argv[0]).name == "accuracy.py"
    main(files_to_score(sys.argv[1:] if called_directly else []))
