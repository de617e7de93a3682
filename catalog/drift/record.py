"""What one fold made of an operation: a version where its outline changed, and the drift that it brought."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from affidavit import Evidence, describe
from affidavit.operations import OperationSum, Part
from catalog.drift.absence import ENOUGH, OPTIONAL, QUIET, Heard, Held, listen
from catalog.drift.compare import PATH, Change, IsRule, IsWhole, compare_outlines, gone, in_words, not_always
from catalog.evidence.epochs import with_maps
from catalog.evidence.parts import Maps, first_epoch, node_starts, part_key
from catalog.evidence.pointers import EvidenceNode, is_within, walk_nodes
from catalog.models import Drift, Operation, OperationPart, OperationVersion

SECONDS_PER_DAY = 86400


@dataclass
class Folded:
    """One operation in one fold: its row as it was (None when it is new) and as it becomes, its sum, and what came.

    maps: what is shown as maps; in the sums it is not yet. own: where a rule by hand makes more of what came than was
    reported under this very template, the latter. late: what is shown of the evidence that came for epochs before the
    current one; it is stored and in `total` already, and not in `added`.
    """

    before: Operation | None
    row: Operation
    maps: Maps
    total: OperationSum
    added: OperationSum
    own: OperationSum | None = None
    late: Mapping[Part, Evidence] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """What is shown under another operation has no versions and no drift meanwhile; the other one has."""
        return self.row.shown_under is None

    @property
    def is_known(self) -> bool:
        """Whether there was a version before: a first descriptor is no change."""
        return self.before is not None and self.before.version > 0

    @property
    def is_new_version(self) -> bool:
        if not (self.row.begun and self.is_shown):
            return False
        return not self.is_known or bytes(self.before.outline_digest) != self.row.outline_digest

    @cached_property
    def stored_parts(self) -> dict[Part, OperationPart]:
        """What was stored of the current epoch."""
        rows = self.before.parts.all() if self.before else ()
        return {Part(row.part, row.status): row for row in rows if row.epoch == self.row.epoch}

    @cached_property
    def restarted(self) -> set[str]:
        """The parts whose evidence is all from before a fresh start: their first descriptor is no change."""
        together = self.before.merged_rows if self.before else ()
        parts = [(row, part) for row in together for part in row.parts.all() if part.evidence]
        shown = {row_part_key(part) for row, part in parts if part.epoch >= first_epoch(row, row_part_key(part))}
        return {row_part_key(part) for _, part in parts} - shown

    @cached_property
    def fresh_nodes(self) -> set[tuple[str, str]]:
        """Part and pointer of the nodes that were started afresh: the first type of one is no change."""
        together = self.before.merged_rows if self.before else ()
        return {
            (start.part, start.pointer) for row in together for start in row.baseline_resets.all() if start.is_active
        }

    def is_first(self, change: Change) -> bool:
        """Whether it is only what came first after a fresh start."""
        is_fresh = (change.part, change.pointer) in self.fresh_nodes
        return change.part in self.restarted or (is_fresh and change.is_of_nothing)

    def evidence_of_epoch(self, part: Part) -> Evidence:
        """What is to be stored of a part: the current epoch's own sum; empty where only others have any."""
        if self.own is None and self.row.epoch == self.row.shown_from:
            return self.total.evidence[part]
        stored = self.stored_parts.get(part)
        evidence = Evidence.from_state(stored.evidence) if stored else Evidence()
        evidence.add((self.own or self.added).evidence.get(part, Evidence()))
        return evidence

    def as_shown(self, evidence: Mapping[Part, Evidence], part: Part) -> Evidence:
        """A part of one of the sums, with maps as maps."""
        maps = self.maps.get(part, {})
        return with_maps(evidence[part], lambda pointer, _: pointer in maps) if maps else evidence[part]

    def heard_before(self, part: Part) -> Held:
        """What is held of the silences of a part: of its latest epoch that is shown, but for what was started since."""
        rows = self.before.parts.all() if self.before else ()
        first = first_epoch(self.before, part_key(part)) if self.before else 0
        # A silence is never forgotten, so a row without any heard nothing: what came late is not listened to.
        held = [row for row in rows if Part(row.part, row.status) == part and row.epoch >= first and row.absences]
        if not held:
            return {}
        latest = max(held, key=lambda row: row.epoch)
        since = [start.pointer for start in node_starts(self.before, part_key(part)) if start.epoch > latest.epoch]
        return {
            pointer: silence
            for pointer, silence in latest.absences.items()
            if not any(is_within(pointer, start) for start in since)
        }

    @cached_property
    def silences(self) -> dict[Part, tuple[Held, list[Heard]]]:
        """By part that came: what is held of its silences, and what is to be told."""
        held = self.stored_parts
        if not self.is_shown:
            return {part: (held[part].absences if part in held else {}, []) for part in self.added.evidence}
        return {
            part: listen(
                self.heard_before(part),
                self.as_shown(self.total.evidence, part),
                self.as_shown(self.added.evidence, part),
            )
            for part in self.added.evidence
        }

    @cached_property
    def came(self) -> dict[tuple[str, str], EvidenceNode]:
        """The places in what came, by part and pointer."""
        came = {part: Evidence() for part in (*self.added.evidence, *self.late)}
        for part, evidence in (*self.added.evidence.items(), *self.late.items()):
            came[part].add(evidence)
        return {
            (part_key(part), pointer): place
            for part in came
            for pointer, place in walk_nodes(self.as_shown(came, part), observations=self.observed(part))
        }

    @cached_property
    def stands(self) -> dict[tuple[str, str], EvidenceNode]:
        """The places in all that is shown, by part and pointer."""
        return {
            (part_key(part), pointer): place
            for part in self.total.evidence
            for pointer, place in walk_nodes(self.as_shown(self.total.evidence, part), observations=None)
        }

    def observed(self, part: Part) -> int:
        """How often a part could have been there in what came."""
        if part.status:
            return self.added.statuses[part.status]
        return sum(count for status, count in self.added.statuses.items() if 200 <= status < 400)


def row_part_key(row: OperationPart) -> str:
    return part_key(Part(row.part, row.status))


def drift_of(folds: Sequence[Folded], *, now: datetime) -> list[Drift]:
    """Number the versions of these rows, and say what changed. Reads the outlines of before."""
    changed = [fold.before.pk for fold in folds if fold.is_known and fold.is_new_version]
    outlines = dict(Operation.objects.filter(pk__in=changed).values_list("pk", "outline"))
    return [drift for fold in folds for drift in numbered(fold, outlines, now=now)]


def numbered(fold: Folded, outlines: Mapping[int, str], *, now: datetime) -> list[Drift]:
    version = fold.before.version if fold.before else 0
    fold.row.version = version + 1 if fold.is_new_version else version
    drift = list(drift_rows(fold, outlines, now=now)) if fold.is_known and fold.is_shown else []
    fold.row.drifted_at = now if drift else fold.before and fold.before.drifted_at
    return drift


def drift_rows(fold: Folded, outlines: Mapping[int, str], *, now: datetime) -> Iterator[Drift]:
    if before := outlines.get(fold.before.pk):
        old, new = json.loads(before), json.loads(fold.row.outline)
        for change in compare_outlines(old, new, is_whole=is_whole(fold), is_rule=is_rule(fold)):
            if not fold.is_first(change):
                yield row_of(fold, change, *seen_of(fold, change), since=moment(fold.added.first), now=now)
    for part, (_, told) in fold.silences.items():
        for heard in told:
            yield heard_row(fold, part, heard, now=now)


def is_whole(fold: Folded) -> IsWhole:
    """Whether something new was there in all that could have held it."""

    def was_always_there(part: str, pointer: str) -> bool:
        place = fold.came.get((part, pointer))
        return place is not None and place.parents is not None and place.evidence.seen >= place.parents

    return was_always_there


def is_rule(fold: Folded) -> IsRule:
    """Whether nulls were seen often enough before, where nothing else was."""

    def was_often_null(part: str, pointer: str) -> bool:
        both = fold.stands.get((part, pointer)), fold.came.get((part, pointer))
        in_all, in_what_came = (place.evidence.counts.get("null", 0) if place else 0 for place in both)
        return in_all - in_what_came >= ENOUGH

    return was_often_null


def seen_of(fold: Folded, change: Change) -> tuple[int, int | None]:
    """How often it was there in what came, of how often it could have been."""
    if change.part == PATH:
        return fold.added.observations, fold.added.observations
    if place := fold.came.get((change.part, change.pointer)):
        return place.evidence.seen, place.parents
    # A status without a body, or a place that only a cut or a name made another.
    return fold.added.statuses.get(int(change.part), 0) if change.part.isdigit() else 0, None


def heard_row(fold: Folded, part: Part, heard: Heard, *, now: datetime) -> Drift:
    change = change_of(part_key(part), heard)
    since = moment(fold.added.first)
    if heard.kind == QUIET and heard.evidence.last is not None:
        since = moment(heard.evidence.last * SECONDS_PER_DAY)
    return row_of(fold, change, heard.seen, heard.of, since=since, now=now)


def change_of(part: str, heard: Heard) -> Change:
    shape = describe(heard.evidence, counts=False)
    if heard.kind == QUIET:
        change = gone(part, heard.pointer, shape, "quiet")
        return replace(change, after=f"perhaps {heard.successor} now") if heard.successor else change
    if heard.kind == OPTIONAL:
        before, after = f"in each of {heard.always:,}", f"in {heard.seen:,} of {heard.of:,}"
        return not_always(part, heard.pointer, before, after)
    return Change(part, heard.pointer, "back", "", in_words(shape))


def row_of(fold: Folded, change: Change, seen: int, of: int | None, *, since: datetime, now: datetime) -> Drift:
    return Drift(
        environment=fold.row.environment,
        operation=fold.row,
        version=fold.row.version,
        at=now,
        since=since,
        part=change.part,
        pointer=change.pointer,
        kind=change.kind,
        before=change.before,
        after=with_counts(fold, change),
        breaks=change.breaks,
        seen=seen,
        of=of,
    )


def with_counts(fold: Folded, change: Change) -> str:
    """Of different types, how often each was seen so far."""
    if not change.after.startswith("different types"):
        return change.after
    found = fold.stands.get((change.part, change.pointer))
    return f"{change.after} ({kinds_seen(found.evidence)})" if found else change.after


def kinds_seen(evidence: Evidence) -> str:
    ranked = sorted(evidence.counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{kind} {count:,}" for kind, count in ranked if count)


def version_row(fold: Folded, *, now: datetime) -> OperationVersion:
    return OperationVersion(
        operation=fold.row,
        number=fold.row.version,
        at=now,
        since=moment(fold.added.first if fold.is_known else fold.total.first),
        observations=fold.row.observations,
        outline=fold.row.outline,
    )


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
