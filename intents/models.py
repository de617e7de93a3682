"""Verifications of intents, confirmations at the gate, and minted intents."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.db import models
from django.db.models import Q

from workspaces.models import ApiKey, Environment, Workspace

MAX_OPERATION = 255  # characters of a template
ALL_VERSIONS = -1  # in roll-ups, the version of the sums over all versions and operations
MAX_SIGNED_OPERATION = 2000  # characters of the operation in an intent, which may have a query


class VerificationReport(models.Model):
    """A received report.

    digest: the keyed hash of its body's SHA-256; a repeated delivery has the same.
    recorded: the sum of its counts.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    report_id = models.UUIDField()
    digest = models.BinaryField(max_length=32)
    recorded = models.BigIntegerField()
    received_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "report_id"], name="one_verification_report_per_id")
        ]

    def __str__(self) -> str:
        return str(self.report_id)


class VerificationTally(models.Model):
    """The number of verifications of a quarter hour with one result, version and operation; nothing is sampled.

    start: the first moment of the quarter hour in UTC.
    result: `accepted` or a reason.
    version: the version of the intents, 0 if it was not reported.
    operation: the template of their operation, empty if it was not reported.
    last_at: when the last of them occurred.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    start = models.DateTimeField()
    result = models.CharField(max_length=40)
    version = models.PositiveSmallIntegerField()
    operation = models.CharField(max_length=MAX_OPERATION)
    count = models.BigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "start", "result", "version", "operation"],
                name="one_verification_tally",
            )
        ]

    def __str__(self) -> str:
        return f"{self.count} {self.result} from {self.start:%Y-%m-%d %H:%M}"


class VerificationRollup(models.Model):
    """Sums of verification tallies by UTC day and month, for each result, version and operation.

    Rows with the version ALL_VERSIONS and an empty operation are sums over all versions and operations; only these
    exist by quarter hour as well. The statement that writes the tallies also writes these sums, so the two always
    agree. Pages read the coarsest sums that fit. Like the tallies of outcomes, the sums are sharded counters: readers
    add up the shards.
    """

    pk = models.CompositePrimaryKey("environment_id", "grain", "version", "starts_at", "result", "operation", "shard")
    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    grain = models.CharField(max_length=1, db_collation="C", help_text="q quarter hour, d day, m month")
    version = models.SmallIntegerField()
    starts_at = models.DateTimeField()
    result = models.CharField(max_length=40)
    operation = models.CharField(max_length=MAX_OPERATION, blank=True)
    shard = models.SmallIntegerField()
    count = models.BigIntegerField()
    last_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.count} {self.result} from {self.grain} {self.starts_at:%Y-%m-%d %H:%M}"


def split_operation(operation: str) -> tuple[str, str]:
    """Return method and path of an operation; two empty strings if it is empty or of another transport."""
    method, separator, path = operation.partition(" /")
    return (method, f"/{path}") if separator else ("", "")


class Rejection(models.Model):
    """One reported rejection, or `count` identical ones that were reported together.

    The table is partitioned by month. Its primary key in the database is (environment_id, occurred_at, id).

    api_key: the key that reported it; None for older rows, whose key was not stored.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    occurred_at = models.DateTimeField()
    reason = models.CharField(max_length=40)
    version = models.PositiveSmallIntegerField()
    operation = models.CharField(max_length=MAX_OPERATION)
    tool_call_id = models.CharField(max_length=255, blank=True)
    count = models.BigIntegerField()
    # Keys are deleted only with their workspace, after its rejections.
    api_key = models.ForeignKey(
        ApiKey, on_delete=models.DO_NOTHING, null=True, related_name="+", db_index=False, db_constraint=False
    )

    class Meta:
        indexes = [models.Index(fields=["environment", "tool_call_id"], name="rejections_of_a_tool_call")]

    def __str__(self) -> str:
        return f"{self.reason} at {self.occurred_at:%Y-%m-%d %H:%M}"

    @property
    def method(self) -> str:
        """Return the method of the operation; "" if no operation was reported, or one of another transport."""
        return split_operation(self.operation)[0]

    @property
    def path(self) -> str:
        """Return the path template of the operation; "" in the same cases as `method`."""
        return split_operation(self.operation)[1]


class Confirmation(models.Model):
    """A request to allow one call, decided by a person or a machine; it can be used once (contract §3).

    state: the stored state. `state_at` returns the state at a moment, which can be `expired`.
    expires_at: 15 minutes after the confirmation was requested; once it is decided, 15 minutes after the decision takes
        effect.
    args_hash: the keyed hash of argsHash (intents.gate.args_hashes); the arguments are never stored.
    encrypted_args_hash: argsHash itself, for the page, until the decision takes effect or the confirmation expires.
    effective_at: until when a decision on the page can be undone; None before a decision, and for a decision by API,
        which takes effect at once.
    """

    PENDING, CONFIRMED, DECLINED, USED, EXPIRED = "pending", "confirmed", "declined", "used", "expired"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    sub = models.CharField(max_length=255)
    operation = models.CharField(max_length=MAX_SIGNED_OPERATION)
    args_hash = models.CharField(max_length=64)
    encrypted_args_hash = models.BinaryField(null=True)
    summary = models.CharField(max_length=1000)
    state = models.CharField(max_length=12, default=PENDING)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=150, blank=True)
    effective_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    tool_call_id = models.CharField(max_length=255, blank=True)

    class Meta:
        indexes = [
            models.Index(name="confirmations_latest_first", fields=["environment", "-created_at"]),
            models.Index(
                name="confirmations_that_wait", fields=["environment", "expires_at"], condition=Q(state="pending")
            ),
            models.Index(
                name="args_hashes_to_forget", fields=["expires_at"], condition=Q(encrypted_args_hash__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} since {self.created_at:%Y-%m-%d %H:%M}"

    def state_at(self, now: datetime) -> str:
        """Return the state at a moment: `expired` if time has run out, `pending` while a decision can be undone."""
        if self.can_be_undone_at(now):
            return self.PENDING
        can_expire = self.state in (self.PENDING, self.CONFIRMED)
        return self.EXPIRED if can_expire and self.expires_at <= now else self.state

    def can_be_undone_at(self, now: datetime) -> bool:
        """Return whether a decision on the page has not taken effect yet."""
        is_decided = self.state in (self.CONFIRMED, self.DECLINED)
        return is_decided and self.effective_at is not None and now < self.effective_at


class MintedIntent(models.Model):
    """An intent that this hub minted, without its header, its nonce and the arguments.

    The table is partitioned by month. Its primary key in the database is (environment_id, issued_at, id).

    args_hash: the keyed hash of argsHash (intents.gate.args_hashes).
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    tool_call_id = models.CharField(max_length=255)
    sub = models.CharField(max_length=255)
    operation = models.CharField(max_length=MAX_SIGNED_OPERATION)
    args_hash = models.CharField(max_length=64)
    requires_step_up = models.BooleanField(default=False)
    confirmation = models.ForeignKey(
        Confirmation, on_delete=models.SET_NULL, null=True, related_name="intents", db_constraint=False
    )
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(name="intents_of_a_tool_call", fields=["environment", "tool_call_id"]),
            models.Index(
                name="intents_with_step_up",
                fields=["environment", "issued_at", "id"],
                condition=Q(requires_step_up=True),
            ),
            models.Index(name="intents_of_a_user", fields=["environment", "sub", "issued_at", "id"]),
        ]

    def __str__(self) -> str:
        return f"{self.tool_call_id} at {self.issued_at:%Y-%m-%d %H:%M}"


class UsedNonce(models.Model):
    """A used nonce, in the table of affidavit's SqlNonces; only that store reads and writes it."""

    nonce_key = models.CharField(primary_key=True, max_length=64)
    keep_until = models.FloatField(db_index=True, help_text="Unix seconds.")

    class Meta:
        db_table = "affidavit_nonces"

    def __str__(self) -> str:
        return self.nonce_key
