"""Recorded APIs whose true path templates are known: HAR files with `_template` in each entry."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit._har.entries import Exchange, LeftOut, read_har
from affidavit._har.file import scan
from affidavit._json import ABSENT, Absent, Json
from affidavit._shapes.form_fields import FormFields

SAMPLE_SIZES = (8, 30, 100)
"""How many exchanges the short parts of a recording have."""


@dataclass(frozen=True)
class PathExchange:
    """A request and its answer, in the form in which a learner of path templates takes them."""

    method: str
    path: str
    status: int
    request: Json | Absent
    response: Json | Absent


@dataclass(frozen=True)
class PathRecording:
    """One recorded API.

    truth: the true template of each (method, path) that was answered with 2xx.
    counts: how many such answers each of them had.
    """

    api: str
    name: str
    exchanges: Sequence[PathExchange]
    truth: Mapping[tuple[str, str], str]
    counts: Mapping[tuple[str, str], int]


def list_recordings(directory: str | os.PathLike[str]) -> list[Path]:
    return sorted([*Path(directory).glob("*.har"), *Path(directory).glob("*.har.gz")])


def read_path_recording(path: str | os.PathLike[str]) -> PathRecording:
    """Read one HAR. The part of its name before the first hyphen names its API."""
    return make_recording(Path(path).name.partition(".")[0], _read_exchanges(path))


def make_recording(name: str, entries: Iterable[tuple[PathExchange, str | None]]) -> PathRecording:
    """Return a recording of exchanges and their true templates; None stands for a template that is not known."""
    exchanges, truth = list[PathExchange](), dict[tuple[str, str], str]()
    counts = Counter[tuple[str, str]]()
    for exchange, template in entries:
        exchanges.append(exchange)
        if template is not None and 200 <= exchange.status < 300:
            truth[exchange.method, exchange.path] = template
            counts[exchange.method, exchange.path] += 1
    return PathRecording(name.partition("-")[0], name, exchanges, truth, counts)


def take_samples(recording: PathRecording) -> list[PathRecording]:
    """Return short parts of a recording. Each is as much as a learner has seen soon after its start."""
    rng, samples = random.Random(recording.name), list[PathRecording]()
    for size in SAMPLE_SIZES:
        start = rng.randrange(max(1, len(recording.exchanges) - size))
        part = recording.exchanges[start : start + size]
        entries = [(exchange, recording.truth.get((exchange.method, exchange.path))) for exchange in part]
        samples.append(make_recording(f"{recording.name}-{size}", entries))
    return samples


def _read_exchanges(path: str | os.PathLike[str]) -> Iterator[tuple[PathExchange, str | None]]:
    for exchange, template in read_entries(path):
        if isinstance(exchange, Exchange):
            request, response = json_or_absent(exchange.request), json_or_absent(exchange.response)
            yield PathExchange(exchange.method, exchange.path, exchange.status, request, response), template


def read_entries(path: str | os.PathLike[str]) -> Iterator[tuple[Any, str | None]]:
    """Yield each entry as the HAR reader returns it, with its true template."""
    for item, entry in zip(read_har(path, now=time.time()), scan(path), strict=True):
        true_template = entry.get("_template") if isinstance(entry, dict) else None
        yield item, true_template if isinstance(true_template, str) else None


def body_or_absent(body: Json | FormFields | Absent | LeftOut) -> Json | FormFields | Absent:
    """Return the body; ABSENT if the reader left it out."""
    return ABSENT if isinstance(body, LeftOut) else body


def json_or_absent(body: Json | FormFields | Absent | LeftOut) -> Json | Absent:
    """Return the body if it is JSON, else ABSENT."""
    return ABSENT if isinstance(body, LeftOut | FormFields) else body
