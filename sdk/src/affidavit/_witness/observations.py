"""Observations: requests and responses summed by operation, status and UTC day (contract §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from affidavit._json import ABSENT, Absent, Json
from affidavit._paths.templates import Template
from affidavit._shapes.evidence import Evidence
from affidavit._shapes.evidence_to_descriptor import describe, fit
from affidavit._shapes.form_fields import FormFields, observe_form
from affidavit._shapes.media_types import reduce_media_type
from affidavit._shapes.redaction import DEFAULT, Redactor
from affidavit._shapes.values_to_evidence import observe

from .parameter_types import merge_types

SECONDS_A_DAY = 86_400
METHOD = re.compile(r"[A-Za-z][A-Za-z_-]{0,31}")
UNSENDABLE = re.compile("[\0\ud800-\udfff]")  # the hub refuses JSON with these
_RARE_IN_NAMES = re.compile(r"[\s\"<>\\{}]")
PARTS = ("query", "request", "response")
_MAX_SHAPE = 1_300_000  # bytes of one descriptor; three of them and the rest of an observation fit in 4 MiB


class MediaTypes(NamedTuple):
    """The media types of a request and its response, as `reduce_media_type` returns them; "" without a body."""

    request: str = ""
    response: str = ""


NO_MEDIA_TYPES = MediaTypes()


@lru_cache(maxsize=1024)
def find_media_types(status: int, request_content_type: str | None, response_content_type: str | None) -> MediaTypes:
    """Return the media types of one exchange by their `Content-Type`; the request's only for 2xx and 3xx."""
    request = request_content_type if 200 <= status < 400 else None
    return MediaTypes(
        reduce_media_type(request) if request else "",
        reduce_media_type(response_content_type) if response_content_type else "",
    )


class EntryKey(NamedTuple):
    """The members in which the requests of one entry agree.

    day: days since 1970-01-01 UTC.
    """

    path: str
    method: str
    status: int
    day: int
    media_types: MediaTypes = NO_MEDIA_TYPES


@dataclass
class EntrySum:
    """The sum of the observations under one key.

    first, last: Unix seconds.
    """

    first: float
    last: float
    count: int = 0
    parameters: dict[str, str] = field(default_factory=dict)
    undecided_indexes: frozenset[int] = frozenset()
    query: Evidence = field(default_factory=Evidence)
    request: Evidence = field(default_factory=Evidence)
    response: Evidence = field(default_factory=Evidence)

    def add(self, part: EntrySum) -> None:
        """Add another sum, of the same key or of a path that has the same template."""
        self.count += part.count
        self.first, self.last = min(self.first, part.first), max(self.last, part.last)
        for name in PARTS:
            getattr(self, name).add(getattr(part, name))


class Observations:
    """Sums of requests and responses: shapes and counts, never a value or a raw path.

    redactor: judges each name only when it is first added. So the same redactor is used for all that is added.
    """

    def __init__(self, *, redactor: Redactor | None = DEFAULT) -> None:
        self._redactor = redactor
        self._sums: dict[EntryKey, EntrySum] = {}

    def __len__(self) -> int:
        """Return the number of entries to send."""
        return len(self._sums)

    def add(
        self,
        method: str,
        template: Template,
        status: int,
        *,
        at: float,
        query: Mapping[str, list[str]] | None = None,
        request: Json | FormFields | Absent = ABSENT,
        response: Json | Absent = ABSENT,
        media_types: MediaTypes = NO_MEDIA_TYPES,
    ) -> None:
        """Add one request and its response.

        at: Unix seconds.

        The shapes of query and request are kept for 2xx and 3xx only. Names in the query that have NUL or half a
        surrogate pair are left out, and so are texts in place of a query, such as JSON.
        """
        key = EntryKey(template.path, method, status, int(at // SECONDS_A_DAY), media_types)
        total = self._find_sum(key, template, at)
        total.count += 1
        total.first, total.last = min(total.first, at), max(total.last, at)
        if 200 <= status < 400:
            if query is not None:
                self._observe(total.query, _build_query(query))
            if isinstance(request, FormFields):
                observe_form(total.request, request, redactor=self._redactor)
            else:
                self._observe(total.request, request)
        self._observe(total.response, response)

    def absorb(self, key: EntryKey, template: Template, part: EntrySum) -> None:
        """Add a sum from elsewhere, under `template` in place of the path of `key`."""
        self._find_sum(key._replace(path=template.path), template, part.first).add(part)

    def sums(self) -> Mapping[EntryKey, EntrySum]:
        """Return all sums, not copied."""
        return self._sums

    def entries(self) -> Iterator[dict[str, Json]]:
        """Yield wire observations, sorted by path, method, status, day and media types. Each one fits in a report."""
        for key, total in sorted(self._sums.items(), key=lambda entry: entry[0]):
            entry: dict[str, Json] = {
                "method": key.method,
                "path": key.path,
                "status": key.status,
                "count": total.count,
                "firstSeenAt": int(total.first),
                "lastSeenAt": int(total.last),
            }
            if total.parameters:
                entry["parameters"] = {name: {"type": kind} for name, kind in total.parameters.items()}
            if total.undecided_indexes:
                entry["undecided"] = [*sorted(total.undecided_indexes)]
            if key.media_types.request:
                entry["requestMediaType"] = key.media_types.request
            if key.media_types.response:
                entry["responseMediaType"] = key.media_types.response
            for part in PARTS:
                evidence: Evidence = getattr(total, part)
                if evidence.seen:
                    entry[part] = describe(fit(evidence, _MAX_SHAPE), max_nodes=None)
            yield entry

    def _find_sum(self, key: EntryKey, template: Template, moment: float) -> EntrySum:
        """Return the sum of a key, updated by one more template of the same path."""
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = EntrySum(
                first=moment, last=moment, undecided_indexes=frozenset(template.undecided)
            )
        total.undecided_indexes &= frozenset(template.undecided)  # once decided, always decided
        for name, kind in template.parameters.items():
            total.parameters[name] = merge_types(total.parameters.get(name, kind), kind)
        return total

    def _observe(self, evidence: Evidence, value: Json | Absent) -> None:
        if not isinstance(value, Absent):
            observe(evidence, value, redactor=self._redactor)


def _build_query(query: Mapping[str, list[str]]) -> Json:
    """Return a query as an object, without names for which the hub would refuse the whole report.

    Left out, too, is a name without a value if a space, a quote or a brace is in it: it is a text (`?{"user":"anna"}`).
    """
    return {
        name: _unwrap_single(texts)
        for name, texts in query.items()
        if not (UNSENDABLE.search(name) or (_RARE_IN_NAMES.search(name) and not any(texts)))
    }


def _unwrap_single(texts: list[str]) -> Json:
    """Return a single text as a string, several as an array."""
    return texts[0] if len(texts) == 1 else list(texts)
