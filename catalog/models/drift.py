"""The versions of operations, the drift between them, and where drift is muted."""

from __future__ import annotations

import hashlib
from datetime import UTC, date

from django.db import models

from catalog.change_added_types import count_new_type, list_new_types
from catalog.change_kinds import CHANGE_KINDS, NO_LONGER_SEEN
from catalog.change_successor import locate_successor
from catalog.models.operations import Operation
from wire.postgresql.counts import Count
from workspaces.models import Environment


class OperationVersion(models.Model):
    """One version of an operation's outline.

    since: when the traffic that caused it was first observed.
    at: when that traffic was folded.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="versions", db_constraint=False)
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    since = models.DateTimeField()
    observations = Count()
    outline = models.TextField()
    by_hand = models.BooleanField(default=False, help_text="A manual override made it, not an observation.")

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "operation", "number"], name="one_version_per_number")
        ]

    def __str__(self) -> str:
        return f"version {self.number}"


class Drift(models.Model):
    """One change of an operation's shape: catalog.drift.compare_outlines.Change, with the observations that showed it.

    at: when the change was detected.
    since: the earliest time at which the change can have begun: the time of the first observation that the fold added.
        For a property that is no longer seen, it is the start of the UTC day on which it was last seen. For one that
        came back as optional, it is the time of the first observation of the fold in which its absence began.
    seen, of: how often the node was present since then, and how often it could have been (null if unknown).
    matching: for a new type, how many of the values since then have it.
    values_before: for a new type, how many values were observed before then.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="drift")
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="drift", db_constraint=False)
    version = models.PositiveIntegerField()
    at = models.DateTimeField()
    since = models.DateTimeField()
    part = models.CharField(max_length=8)
    pointer = models.TextField(blank=True)
    kind = models.CharField(max_length=12)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    breaks = models.CharField(max_length=8, blank=True)
    seen = Count()
    of = Count(null=True)
    matching = Count(null=True)
    values_before = Count(null=True)
    acknowledged_at = models.DateTimeField(null=True, help_text="When a person said that they have seen it.")
    acknowledged_by = models.CharField(max_length=150, blank=True, db_default="")

    class Meta:
        indexes = [
            models.Index(fields=["environment", "-at", "-id"], name="latest_drift"),
            models.Index(fields=["environment", "operation", "-id"], name="drift_of_operation"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pointer}"

    @property
    def words(self) -> str:
        return CHANGE_KINDS[self.kind]

    @property
    def is_dated(self) -> bool:
        """Return whether the change began in the minute in which it was detected.

        Otherwise it may have begun at any time from `since` to `at`.
        """
        return self.at.replace(second=0, microsecond=0) <= self.since

    @property
    def last_day(self) -> date | None:
        """Return the UTC day on which a property that is no longer seen was last seen; the time of day is not known."""
        return self.since.astimezone(UTC).date() if self.kind == NO_LONGER_SEEN else None

    @property
    def successor(self) -> str:
        """Return the pointer of the property that seems to replace one that is no longer seen; "" for none."""
        return locate_successor(self.pointer, self.kind, self.after)

    @property
    def values(self) -> int | None:
        """Return the number of values when a new type was detected, including those of this type; None if unknown."""
        return None if self.values_before is None else self.values_before + self.seen

    @property
    def after_words(self) -> str:
        """Return the type after the change; if every value since then has a new type, only the new types."""
        names = list_new_types(self.before, self.after)
        is_of_all = self.kind == "type" and self.matching is not None and self.matching == self.seen
        return " or ".join(names) if is_of_all and names else self.after

    @property
    def matching_words(self) -> str:
        """Return `1 string` for a new type that one value has; "" if it is not known how many have it."""
        return count_new_type(self.matching, self.before, self.after) if self.matching else ""

    @property
    def place_digest(self) -> bytes:
        """Return the key of a DriftMute of this kind of change at this place."""
        return hashlib.sha256("\0".join([str(self.operation_id), self.part, self.pointer, self.kind]).encode()).digest()


class DriftMute(models.Model):
    """A mute: until a given time, changes of one kind at one place are not shown as new.

    A place is a node, or the root, of one part of an operation. There is at most one mute for each place and kind.

    place_digest: the same as Drift.place_digest. It is a digest, because a pointer can be too long for an index.
    """

    pk = models.CompositePrimaryKey("environment_id", "place_digest")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="drift_mutes", db_index=False)
    place_digest = models.BinaryField(max_length=32)
    operation = models.ForeignKey(
        Operation, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    part = models.CharField(max_length=8)
    pointer = models.TextField(blank=True)
    kind = models.CharField(max_length=12)
    until = models.DateTimeField()
    muted_at = models.DateTimeField()
    muted_by = models.CharField(max_length=150)

    def __str__(self) -> str:
        return f"{self.kind} {self.part} {self.pointer} until {self.until:%Y-%m-%d %H:%M}"
