"""What the catalog stores: the inbox of witness reports, operations with their evidence, versions and drift."""

from __future__ import annotations

from datetime import UTC, date
from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models

from affidavit.operations import nameless
from catalog.drift.compare import KINDS
from workspaces.models import Environment, Workspace

MAX_PATH_BYTES = 2000  # a unique index holds the path, and PostgreSQL's index rows end at 2,700 bytes
MAX_METHOD = 32
PART_IDENTITY = ["operation", "part", "status", "epoch"]


class WitnessReport(models.Model):
    """One delivery, summed at the door; `sums` goes once it is folded, id and digest stay 400 days.

    sums: affidavit.operations.DailySums.to_state(); size: bytes of the body as received.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="witness_reports")
    report_id = models.UUIDField()
    digest = models.BinaryField(max_length=32)
    reporter = models.CharField(max_length=200, blank=True)
    size = models.PositiveIntegerField()
    sums: Any = models.JSONField(null=True)
    received_at = models.DateTimeField(db_index=True)
    folded_at = models.DateTimeField(null=True)
    parked_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "report_id"], name="one_report_per_id")]
        indexes = [
            models.Index(
                fields=["environment", "id"],
                condition=models.Q(folded_at=None, parked_at=None),
                name="unfolded_reports",
            ),
            models.Index(
                fields=["environment", "parked_at"],
                condition=models.Q(parked_at__isnull=False),
                name="parked_reports",
            ),
        ]

    def __str__(self) -> str:
        return str(self.report_id)


class Operation(models.Model):
    """A method and a path template in one environment: what was summed, then what is shown of it.

    key: the template with nameless parameters (`/orders/{}`), so that names do not tell operations apart.
    statuses: observations by status; names, types: one object of counts per parameter, by position;
    undecided: observations by index of a literal segment that may be data.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="operations")
    method = models.CharField(max_length=MAX_METHOD)
    key = models.CharField(max_length=MAX_PATH_BYTES)
    statuses: Any = models.JSONField(default=dict)
    names: Any = models.JSONField(default=list)
    types: Any = models.JSONField(default=list)
    undecided: Any = models.JSONField(default=dict)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    # A projection of the above and of the parts, written with them: catalog.projection.Projection.
    begun = models.BooleanField(help_text="A status other than 404, 405 and 501 was seen (contract 4).")
    path = models.TextField(help_text="The template with the names observed most often.")
    observations = models.BigIntegerField()
    properties = models.PositiveIntegerField()
    search = models.TextField(help_text="Path, then name and type of every property, one a line.")
    document = models.TextField(help_text="This operation in /api/catalog, as JSON text.")
    outline = models.TextField(help_text="The same without evidence.")
    document_digest = models.BinaryField(max_length=32)
    outline_digest = models.BinaryField(max_length=32)
    unknowns = models.PositiveIntegerField(default=0, help_text="Places of unknown type.")

    # Where a rule by hand says so, what was reported here is shown elsewhere, or more than that is shown here.
    shown_under = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="shown_here")
    own: Any = models.JSONField(
        null=True, help_text="What was reported here, where it is not what is shown: catalog.sums.facts()."
    )

    version = models.PositiveIntegerField(default=0, help_text="Number of its latest version; 0 before it has begun.")
    drifted_at = models.DateTimeField(null=True, help_text="When its last drift was found.")
    epoch = models.PositiveIntegerField(default=0, help_text="How often it was started afresh: evidence goes there.")
    shown_from = models.PositiveIntegerField(default=0, help_text="The first epoch whose evidence is shown.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["environment", "method", "key"], name="one_operation_per_template")
        ]
        indexes = [GinIndex(fields=["statuses"], name="operations_by_status")]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def shown_together(self) -> list[Operation]:
        """The rows whose evidence is shown here: this one, then those that a rule puts under it."""
        return [self, *self.shown_here.all()]

    @property
    def status_counts(self) -> list[tuple[int, int]]:
        """Observations by status, in the order of statuses."""
        return sorted((int(status), count) for status, count in self.statuses.items())

    @property
    def successes(self) -> int:
        """Observations that a query or a request shape may come from (contract 4)."""
        return sum(count for status, count in self.status_counts if 200 <= status < 400)

    @property
    def undecided_segments(self) -> list[tuple[str, int]]:
        """Literal segments that may be data, each with the observations whose reporter could not tell."""
        segments = self.key.split("/")[1:]
        return [(segments[int(index)], count) for index, count in sorted(self.undecided.items())]


class OperationPart(models.Model):
    """The summed evidence of one part of an operation in one epoch; a response has its status."""

    QUERY, REQUEST, RESPONSE = "query", "request", "response"

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="parts")
    part = models.CharField(max_length=8)
    status = models.PositiveSmallIntegerField(null=True)
    epoch = models.PositiveIntegerField(default=0)
    evidence: Any = models.JSONField(help_text="affidavit.Evidence.to_state()")
    silence: Any = models.JSONField(default=dict, help_text="catalog.silence.Silence by pointer.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=PART_IDENTITY, nulls_distinct=False, name="one_evidence_per_part")
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.status or ''}".rstrip()


class OperationVersion(models.Model):
    """An outline that an operation came to. since: when what made it was first observed; at: when it was folded."""

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    since = models.DateTimeField()
    observations = models.BigIntegerField()
    outline = models.TextField()
    by_hand = models.BooleanField(default=False, help_text="A decision by hand made it, no observation.")

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["operation", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"version {self.number}"


class Drift(models.Model):
    """One change of an operation's descriptor: catalog.drift.Change, and what it was seen on.

    since: when it was first observed, or for what went quiet, the UTC day on which it was last; seen: how often in what
    was observed since, of how often it could have been there (null where nothing tells).
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="drift")
    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="drift")
    version = models.PositiveIntegerField()
    at = models.DateTimeField()
    since = models.DateTimeField()
    part = models.CharField(max_length=8)
    pointer = models.TextField(blank=True)
    kind = models.CharField(max_length=12)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    breaks = models.CharField(max_length=8, blank=True)
    seen = models.BigIntegerField()
    of = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["environment", "-at", "-id"], name="latest_drift")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pointer}"

    @property
    def words(self) -> str:
        return KINDS[self.kind]

    @property
    def last_day(self) -> date | None:
        """Of what went quiet, the UTC day on which it was last seen: no more is known than the day."""
        return self.since.astimezone(UTC).date() if self.kind == "quiet" else None


class Decision(models.Model):
    """Something decided by hand, until it is taken back."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    taken_back_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]


class FreshStart(Decision):
    """From `at` on the shapes of an operation are learnt anew, until that is taken back; nothing is forgotten.

    part: the only one it is for, with the node at `pointer`; "" for the whole operation. epoch: the first that
    counts; statuses: observations by status before it, also those that came late. through: where another operation was
    started afresh while this one was shown under it, that start. It holds while this one is shown there by the rules
    that stood then, none newer than `newest_rule`.
    """

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="fresh_starts")
    part = models.CharField(max_length=8, blank=True, help_text="`query`, `request` or a status.")
    pointer = models.TextField(blank=True)
    epoch = models.PositiveIntegerField()
    statuses: Any = models.JSONField(default=dict)
    through = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="reached")
    newest_rule = models.BigIntegerField(default=0)
    in_reach = models.BooleanField(default=True, help_text="Whether those rules lead there still.")

    class Meta:
        ordering = ["-epoch"]
        constraints = [models.UniqueConstraint(fields=["operation", "epoch"], name="one_fresh_start_per_epoch")]

    def __str__(self) -> str:
        return f"fresh start {self.epoch} {self.place}".rstrip()

    @property
    def place(self) -> str:
        """`200 /lines/[]`; "" for the whole operation."""
        return f"{self.part} {self.pointer}".rstrip()

    @property
    def holds(self) -> bool:
        return self.in_reach and self.taken_back_at is None


class TemplateRule(Decision):
    """By hand: what was and will be reported under `source` is shown under `target`, until that is taken back.

    method: "" for all. source: as Operation.key; target: with the names that are shown. matching: whatever else
    matches the target, too.
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
        """The target as Operation.key."""
        return nameless(self.target)


class RedactionRule(Decision):
    """By hand: reporters mark properties of this name `redacted`, or drop them, until that is taken back.

    environment: null for every one of the workspace. name: `*` stands for any run of characters.
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
    """Whether the object at a place is shown as a map or with its properties, until that is taken back.

    part: `query`, `request` or a status. Of several for one place the latest holds.
    """

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="map_rules")
    part = models.CharField(max_length=8)
    pointer = models.TextField(blank=True)
    as_map = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.place} is {'a map' if self.as_map else 'no map'}"

    @property
    def place(self) -> str:
        """`200 /lines/[]`."""
        return f"{self.part} {self.pointer}".rstrip()
