"""Operations with their evidence, in all and by day, and the downloads computed from them."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models

from affidavit.operations import Identity
from catalog.path_template import MAX_PATH_BYTES
from wire.postgresql.counts import Count
from workspaces.models import Environment

MAX_METHOD = 32
PART_IDENTITY = ["environment", "operation", "part", "status", "epoch"]


class Operation(models.Model):
    """A method and a path template in one environment: first the counts, then the projection that is shown.

    key: the template with nameless parameters (`/orders/{}`), because names do not tell operations apart.
    statuses: the observations by status.
    names, types: an object for each parameter, in their order: how often each name or type was reported.
    undecided: observations by index of a literal segment that may be data.
    media_types: observations by media type, of the request and of each status.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="operations")
    method = models.CharField(max_length=MAX_METHOD)
    key = models.CharField(max_length=MAX_PATH_BYTES)
    statuses: Any = models.JSONField(default=dict)
    names: Any = models.JSONField(default=list)
    types: Any = models.JSONField(default=list)
    undecided: Any = models.JSONField(default=dict)
    media_types: Any = models.JSONField(default=dict)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    # The projection of the counts above and of the parts (catalog.evidence.projection.Projection), saved with them.
    begun = models.BooleanField(help_text="A status other than 404, 405 and 501 was seen (contract §4).")
    path = models.TextField(help_text="The template with the names observed most often.")
    observations = Count()
    properties = models.PositiveIntegerField()
    search = models.TextField(help_text="Path, then name and type of every property, one a line.")
    document = models.TextField(help_text="This operation in /api/catalog, as JSON text.")
    outline = models.TextField(help_text="The same without evidence.")
    document_digest = models.BinaryField(max_length=32)
    outline_digest = models.BinaryField(max_length=32)
    unknowns = models.PositiveIntegerField(default=0, help_text="Places of unknown type.")

    # A template rule can show this operation's evidence under another operation, or other operations' evidence here.
    shown_under = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, related_name="shown_here", db_constraint=False
    )
    reported_facts: Any = models.JSONField(
        null=True,
        db_column="own",
        help_text="The counts as reported, where a rule makes them differ from the above: catalog.evidence.",
    )

    version = models.PositiveIntegerField(default=0, help_text="Number of its latest version; 0 before it has begun.")
    drifted_at = models.DateTimeField(null=True, help_text="When its last drift was found.")
    epoch = models.PositiveIntegerField(
        default=0, help_text="Number of baseline resets; new evidence goes into this epoch."
    )
    shown_from = models.PositiveIntegerField(default=0, help_text="The first epoch whose evidence is shown.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["environment", "method", "key"], name="one_operation_per_template")
        ]
        indexes = [GinIndex(fields=["statuses"], name="operations_by_status")]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def identity(self) -> Identity:
        return Identity(self.method, self.key)

    @property
    def merged_rows(self) -> list[Operation]:
        """Return the rows whose evidence is shown here: this one, then those that a template rule puts under it."""
        return [self, *self.shown_here.all()]

    @property
    def status_counts(self) -> list[tuple[int, int]]:
        """Return statuses with their observations, in the order of statuses."""
        return sorted((int(status), count) for status, count in self.statuses.items())

    def count_media_types(self, part_key: str) -> list[tuple[str, int]]:
        """Return each media type of `request` or of a status with its observations, the most frequent first."""
        counts: dict[str, int] = self.media_types.get(part_key, {})
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    @property
    def successes(self) -> int:
        """Return the number of observations with a 2xx or 3xx status.

        The shapes of query and request are taken only from these (contract §4).
        """
        return sum(count for status, count in self.status_counts if 200 <= status < 400)

    @property
    def undecided_segments(self) -> list[tuple[str, int]]:
        """Return each literal segment that may be data, with how often the reporter could not decide this."""
        segments = self.key.split("/")[1:]
        return [(segments[int(index)], count) for index, count in sorted(self.undecided.items())]


class OperationPart(models.Model):
    """The summed evidence of one part of an operation in one epoch.

    status: of a response; null for the query and the request.
    epoch: the number of the latest baseline reset before the observations; 0 if there was none.
    """

    QUERY, REQUEST, RESPONSE = "query", "request", "response"

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="parts", db_constraint=False)
    part = models.CharField(max_length=8)
    status = models.PositiveSmallIntegerField(null=True)
    epoch = models.PositiveIntegerField(default=0)
    evidence: Any = models.JSONField(help_text="affidavit.Evidence.to_state()")
    absences: Any = models.JSONField(
        default=dict,
        db_column="silence",
        help_text="The members of catalog.drift.presence.no_longer_seen_rule.Absence, by pointer.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=PART_IDENTITY, nulls_distinct=False, name="one_evidence_per_part")
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.status or ''}".rstrip()


class OperationDay(models.Model):
    """The observations of an operation under its own template on one UTC day, in one epoch.

    Days are kept for some months.

    statuses: as in Operation.
    evidence: the evidence of each part as in OperationPart, by `part_key`.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="days", db_constraint=False)
    day = models.DateField()
    epoch = models.PositiveIntegerField(default=0)
    observations = Count()
    statuses: Any = models.JSONField()
    evidence: Any = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["environment", "operation", "day", "epoch"], name="one_row_per_day")
        ]

    def __str__(self) -> str:
        return str(self.day)


class ExcessOperation(models.Model):
    """An operation beyond MAX_OPERATIONS: its observations are counted, its shapes are not kept.

    At most MAX_OPERATIONS such operations have a row. The row without a method sums the observations of all others.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="excess_operations")
    method = models.CharField(max_length=MAX_METHOD, blank=True)
    key = models.CharField(max_length=MAX_PATH_BYTES, blank=True)
    observations = Count()
    first_reported_at = models.DateTimeField()
    last_reported_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["environment", "method", "key"], name="one_excess_operation_per_template")
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.key}".strip()


class CatalogRevision(models.Model):
    """How often an environment's catalog changed, and the digests of all its operations as of an earlier change.

    changes: the number of changes so far.
    digested_changes: the number of changes that the digests include; if it is lower, they are out of date.
    absence_digest: the digest of the properties that are no longer seen.
    absence_changes: the number of changes that the absence digest includes.
    """

    environment = models.OneToOneField(Environment, on_delete=models.CASCADE, primary_key=True, related_name="+")
    changes = models.BigIntegerField()
    digested_changes = models.BigIntegerField(default=0)
    document_digest = models.CharField(max_length=64, blank=True)
    outline_digest = models.CharField(max_length=64, blank=True)
    absence_changes = models.BigIntegerField(db_default=0)
    absence_digest = models.CharField(max_length=64, blank=True, db_default="")

    def __str__(self) -> str:
        return str(self.changes)


class KeptDocument(models.Model):
    """A download as it was last computed: the same bytes are sent until the catalog changes."""

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=40)
    etag = models.CharField(max_length=80)
    length = models.BigIntegerField(help_text="Bytes before compression.")
    body = models.BinaryField(help_text="Compressed by gzip.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["environment", "name"], name="one_kept_document_per_name")]

    def __str__(self) -> str:
        return self.name
