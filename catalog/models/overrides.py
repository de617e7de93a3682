"""Manual overrides: people's decisions about what the catalog shows. Each can be undone."""

from __future__ import annotations

from typing import Any

from django.db import models

from affidavit.operations import strip_names
from catalog.models.operations import MAX_METHOD, Operation
from catalog.path_template import MAX_PATH_BYTES
from workspaces.models import Environment, Workspace


class Decision(models.Model):
    """A manual override, in force until it is undone."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    undone_at = models.DateTimeField(null=True, db_column="taken_back_at")

    class Meta:
        abstract = True
        ordering = ["-id"]


class BaselineReset(Decision):
    """A baseline reset: from `at` on, the shapes of an operation are learnt anew, until the reset is undone.

    No evidence is deleted.

    part, pointer: the only node that is reset; "" for the whole operation.
    epoch: the first epoch whose evidence is shown. An operation begins in epoch 0, and each reset begins the next one.
    statuses: observations by status before the reset, including those that were reported late.
    through: the reset that caused this one. It was set on an operation under which this operation was shown, or could
        be shown by the rules of that time.

    A reset with `through` is active only while the template rules of that time (ids up to `newest_rule`) show this
    operation under the operation of `through`.
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
        return self.in_reach and self.undone_at is None


class TemplateRule(Decision):
    """A rule that shows under `target` what is reported under `source`, earlier reports included, until it is undone.

    method: "" for all.
    source: a template as in Operation.key.
    target: a template with the names of its parameters, as the catalog shows them.
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
        """Return the target without the names of its parameters, as in Operation.key."""
        return strip_names(self.target)


class RedactionRule(Decision):
    """A redaction rule: until it is undone, reporters mark properties of this name `redacted`, or drop them.

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
    """A rule that shows the object at `pointer` as a map, or with its properties, until it is undone.

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
    """A rule that sets one hint of an operation's tool, whatever its method implies, until it is undone.

    key: the key of the operation (Operation.key).
    hint: an annotation of MCP tools.
    path: the path of the operation, if a query has added it (list_hint_rules).

    Of several rules for one hint the latest applies.
    """

    LABELS = {
        "readOnlyHint": "Read-only",
        "destructiveHint": "Destructive",
        "idempotentHint": "Idempotent",
        "openWorldHint": "Open world",
    }
    HINTS = tuple(LABELS)

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="hint_rules")
    method = models.CharField(max_length=MAX_METHOD)
    key = models.CharField(max_length=MAX_PATH_BYTES)
    hint = models.CharField(max_length=20, choices=[(hint, hint) for hint in HINTS])
    value = models.BooleanField()

    class Meta(Decision.Meta):
        indexes = [models.Index(fields=["environment", "id"], name="hint_rules")]

    def __str__(self) -> str:
        return f"{self.method} {getattr(self, 'path', self.key)} {self.location}"

    @property
    def label(self) -> str:
        """Return what pages call the hint."""
        return self.LABELS[self.hint]

    @property
    def location(self) -> str:
        """Return `readOnlyHint true`."""
        return f"{self.hint} {str(self.value).lower()}"
