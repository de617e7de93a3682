"""The catalog's tables: the inbox of witness reports, operations with their evidence, versions, drift and rules."""

from __future__ import annotations

import hashlib
from datetime import UTC, date
from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models

from affidavit.operations import Identity, strip_names
from catalog.change_labels import CHANGE_KINDS, count_new_type
from catalog.path_template import MAX_PATH_BYTES
from wire.postgresql.counts import Count
from workspaces.models import Environment, Workspace

MAX_METHOD = 32
PART_IDENTITY = ["environment", "operation", "part", "status", "epoch"]


class WitnessReportId(models.Model):
    """The id of a received report.

    digest: the keyed hash of its body's SHA-256, which a redelivery has too.

    It has a table of its own, because ids are unique for longer than a month of the inbox.
    """

    pk = models.CompositePrimaryKey("workspace_id", "report_id")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    report_id = models.UUIDField()
    digest = models.BinaryField(max_length=32)
    received_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.report_id)


class WitnessReport(models.Model):
    """One delivered report in the inbox.

    sums: the sums as affidavit.operations.DailySums.to_state() returns them, packed by catalog.ingest.inbox; null once
        the report is folded.
    size: the bytes of the body as received.
    dead_lettered_at, fault: when and why it was set aside, because it could not be folded.

    The table is partitioned by month. Its key in the database is (environment_id, received_at, id).
    """

    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="witness_reports", db_index=False
    )
    report_id = models.UUIDField()
    reporter = models.CharField(max_length=200, blank=True)
    size = models.PositiveIntegerField()
    sums: Any = models.JSONField(null=True)
    received_at = models.DateTimeField()
    folded_at = models.DateTimeField(null=True)
    dead_lettered_at = models.DateTimeField(null=True, db_column="parked_at")
    fault = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["environment", "id"],
                condition=models.Q(folded_at=None, dead_lettered_at=None),
                name="unfolded_reports",
            ),
            models.Index(
                fields=["environment", "dead_lettered_at"],
                condition=models.Q(dead_lettered_at__isnull=False),
                name="parked_reports",
            ),
        ]

    def __str__(self) -> str:
        return str(self.report_id)


class ReporterActivity(models.Model):
    """A quarter hour of UTC in which a reporter reported, so that its silence is noticed without reading the inbox."""

    pk = models.CompositePrimaryKey("environment_id", "reporter", "starts_at")
    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    reporter = models.CharField(max_length=200, blank=True)
    starts_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.reporter} {self.starts_at:%Y-%m-%d %H:%M}"


class Operation(models.Model):
    """A method and a path template in one environment: first the counts, then the projection that is shown.

    key: the template with nameless parameters (`/orders/{}`), because names do not tell operations apart.
    statuses: the observations by status.
    names, types: one object of counts per parameter, by position.
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

    # The projection of the above and of the parts, written with them: catalog.evidence.projection.Projection.
    begun = models.BooleanField(help_text="A status other than 404, 405 and 501 was seen (contract 4).")
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
        help_text="The counts as reported, where a rule makes them differ from the above: catalog.evidence.reported.",
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
        """Return media types and observations of `request` or a status, the most frequent first."""
        counts: dict[str, int] = self.media_types.get(part_key, {})
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    @property
    def successes(self) -> int:
        """Return the number of observations with a 2xx or 3xx status: only these report a query or a request (contract
        4).
        """
        return sum(count for status, count in self.status_counts if 200 <= status < 400)

    @property
    def undecided_segments(self) -> list[tuple[str, int]]:
        """Return the literal segments that may be data, each with the observations in which the reporter could not
        decide.
        """
        segments = self.key.split("/")[1:]
        return [(segments[int(index)], count) for index, count in sorted(self.undecided.items())]


class OperationPart(models.Model):
    """The summed evidence of one part of an operation in one epoch; a response has its status."""

    QUERY, REQUEST, RESPONSE = "query", "request", "response"

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="parts", db_constraint=False)
    part = models.CharField(max_length=8)
    status = models.PositiveSmallIntegerField(null=True)
    epoch = models.PositiveIntegerField(default=0)
    evidence: Any = models.JSONField(help_text="affidavit.Evidence.to_state()")
    absences: Any = models.JSONField(
        default=dict, db_column="silence", help_text="The members of catalog.drift.absence.Absence, by pointer."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=PART_IDENTITY, nulls_distinct=False, name="one_evidence_per_part")
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.status or ''}".rstrip()


class OperationDay(models.Model):
    """The observations of an operation under its own template on one UTC day, in one epoch. Days are kept for some
    months.

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

    There are at most as many of these as the limit; the row without a method sums the observations of all others.
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
    """The number of changes of an environment's catalog, and the digests of all its operations after one of them."""

    environment = models.OneToOneField(Environment, on_delete=models.CASCADE, primary_key=True, related_name="+")
    changes = models.BigIntegerField()
    digested_changes = models.BigIntegerField(default=0)
    document_digest = models.CharField(max_length=64, blank=True)
    outline_digest = models.CharField(max_length=64, blank=True)

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
    """One change of an operation's shape: catalog.drift.compare.Change, with the observations that showed it.

    since: when the change was first observed; for a property no longer seen, the UTC day on which it was last seen.
    seen, of: how often the node was present since then, and how often it could have been (null if unknown).
    matching, values_before: for a new type, how many values since then have it, and how many values came before them.
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
    def last_day(self) -> date | None:
        """Return the UTC day on which a property that is no longer seen was last seen; the time of day is not known."""
        return self.since.astimezone(UTC).date() if self.kind == "quiet" else None

    @property
    def values(self) -> int | None:
        """Return how many values there were when a new type was detected, those with this type included."""
        return None if self.values_before is None else self.values_before + self.seen

    @property
    def matching_words(self) -> str:
        """Return `1 string` for a new type that one value has; "" if it is not known how many have it."""
        return count_new_type(self.matching, self.before, self.after) if self.matching else ""

    @property
    def place_digest(self) -> bytes:
        """Return the key of a DriftMute of this kind of change at this place."""
        return hashlib.sha256("\0".join([str(self.operation_id), self.part, self.pointer, self.kind]).encode()).digest()


class DriftMute(models.Model):
    """A mute: until when changes of one kind at one place are not shown as new. At most one for each place and kind.

    place_digest: as Drift.place_digest, because a pointer can be longer than the key of an index.
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


class Decision(models.Model):
    """A manual override, in force until it is reverted."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    reverted_at = models.DateTimeField(null=True, db_column="taken_back_at")

    class Meta:
        abstract = True
        ordering = ["-id"]


class BaselineReset(Decision):
    """A baseline reset: from `at` on, the shapes of an operation are learnt anew, until the reset is reverted.

    No evidence is deleted.

    part, pointer: the only node that is reset; "" for the whole operation.
    epoch: the first whose evidence is shown.
    statuses: observations by status before it, including those that were reported late.
    through: the reset that caused this one, made on the operation under which this one was shown.

    A caused reset is active while the template rules of that time (ids up to `newest_rule`) still show this operation
    there.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.ForeignKey(
        Operation, on_delete=models.CASCADE, related_name="baseline_resets", db_constraint=False
    )
    part = models.CharField(max_length=8, blank=True, help_text="`query`, `request` or a status.")
    pointer = models.TextField(blank=True)
    epoch = models.PositiveIntegerField()
    statuses: Any = models.JSONField(default=dict)
    through = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="caused", db_constraint=False
    )
    newest_rule = models.BigIntegerField(default=0)
    in_reach = models.BooleanField(default=True, help_text="Whether those rules still lead there.")

    class Meta:
        db_table = "catalog_freshstart"
        ordering = ["-epoch"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "operation", "epoch"], name="one_fresh_start_per_epoch")
        ]

    def __str__(self) -> str:
        return f"baseline reset {self.epoch} {self.location}".rstrip()

    @property
    def location(self) -> str:
        """Return `200 /lines/[]`; "" for the whole operation."""
        return f"{self.part} {self.pointer}".rstrip()

    @property
    def is_active(self) -> bool:
        return self.in_reach and self.reverted_at is None


class TemplateRule(Decision):
    """A rule that shows everything reported under `source`, before or after, under `target`, until it is reverted.

    method: "" for all.
    source: a template as in Operation.key.
    target: the template with the names that are shown.
    matching: whether every other template that matches the target is shown there too.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="template_rules")
    method = models.CharField(max_length=MAX_METHOD, blank=True)
    source = models.CharField(max_length=MAX_PATH_BYTES)
    target = models.CharField(max_length=MAX_PATH_BYTES)
    matching = models.BooleanField(default=False)

    class Meta(Decision.Meta):
        indexes = [models.Index(fields=["environment", "id"], name="template_rules")]

    def __str__(self) -> str:
        return f"{self.method or 'all methods'} {self.source} → {self.target}"

    @property
    def key(self) -> str:
        """Return the target as Operation.key."""
        return strip_names(self.target)


class RedactionRule(Decision):
    """A redaction rule: until it is reverted, reporters mark properties of this name `redacted`, or drop them.

    environment: null for every environment of the workspace.
    name: `*` matches any run of characters.
    """

    SENSITIVE, DROP = "sensitive", "drop"
    KINDS = (SENSITIVE, DROP)

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="redaction_rules")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, null=True, related_name="redaction_rules")
    kind = models.CharField(max_length=9, choices=[(SENSITIVE, "sensitive"), (DROP, "drop")])
    name = models.CharField(max_length=100)

    class Meta(Decision.Meta):
        indexes = [models.Index(fields=["workspace", "id"], name="redaction_rules")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class MapRule(Decision):
    """A rule that shows the object at `pointer` as a map, or with its properties, until it is reverted.

    part: `query`, `request` or a status.

    Of several rules for one node the latest applies.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="map_rules", db_constraint=False)
    part = models.CharField(max_length=8)
    pointer = models.TextField(blank=True)
    as_map = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.location} is {'a map' if self.as_map else 'no map'}"

    @property
    def location(self) -> str:
        """Return `200 /lines/[]`."""
        return f"{self.part} {self.pointer}".rstrip()


class HintRule(Decision):
    """A rule that sets one hint of an operation's tool, whatever its method implies, until it is reverted.

    key: the key of the operation (Operation.key).
    hint: an annotation of MCP tools.

    Of several rules for one hint the latest applies.
    """

    HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="hint_rules")
    method = models.CharField(max_length=MAX_METHOD)
    key = models.CharField(max_length=MAX_PATH_BYTES)
    hint = models.CharField(max_length=20, choices=[(hint, hint) for hint in HINTS])
    value = models.BooleanField()

    class Meta(Decision.Meta):
        indexes = [models.Index(fields=["environment", "id"], name="hint_rules")]

    def __str__(self) -> str:
        return f"{self.method} {self.key} {self.location}"

    @property
    def location(self) -> str:
        """Return `readOnlyHint true`."""
        return f"{self.hint} {str(self.value).lower()}"
