"""Conversations, what they led to (broken joins among it), and the tallies of both."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from workspaces.models import Environment


class Conversation(models.Model):
    """One row per environment and conversation id, known or not: where a report and a registration meet.

    A conversation is known once `started_at` is set; until then it exists only because an outcome named it.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="conversations", db_index=False)
    conversation_id = models.CharField(max_length=255, db_collation="C")
    started_at = models.DateTimeField(null=True)
    registered_at = models.DateTimeField(null=True)
    # Null while not known, so that its index holds known conversations only.
    bare_form = models.CharField(  # noqa: DJ001
        max_length=255,
        db_collation="C",
        null=True,
        help_text="What the id has in common with its alterations.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["environment", "conversation_id"], name="one_conversation_per_environment")
        ]
        indexes = [
            models.Index(
                fields=["environment", "bare_form"],
                name="known_by_bare_form",
                condition=Q(bare_form__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.conversation_id


class Outcome(models.Model):
    """A conversation's label, once per key; a broken join while its conversation is not known.

    Repeats change `reports` and `last_reported_at` only; healing keeps the times (contract 2). Its conversation is
    written by the same statement, so that checking the reference again would only cost time.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="outcomes", db_index=False, db_constraint=False
    )
    outcome_key = models.CharField(max_length=128, db_collation="C")
    reports = models.BigIntegerField()
    first_reported_at = models.DateTimeField()
    last_reported_at = models.DateTimeField()
    broken = models.BooleanField()
    healed_at = models.DateTimeField(null=True)
    reported_by = models.BigIntegerField(null=True, help_text="The API key that first reported a broken join.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "outcome_key"], name="one_outcome_per_conversation_and_key")
        ]
        indexes = [
            models.Index(fields=["environment", "first_reported_at"], name="still_broken", condition=Q(broken=True)),
            models.Index(
                fields=["environment", "healed_at"],
                name="healed_lately",
                condition=Q(healed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.outcome_key


class Tally(models.Model):
    """How much began in one bucket of UTC time, per key, and over all keys where `outcome_key` is empty.

    outcomes, broken, reports: of what was first reported in the bucket; with its first and last report's time.
    conversations: how many started in the bucket; reached: their outcomes, whenever reported.
    Writers at the same moment use different lanes, so that none waits for another's commit; readers sum them,
    and a lane by itself may be negative.
    """

    pk = models.CompositePrimaryKey("environment_id", "grain", "outcome_key", "starts_at", "lane")
    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    grain = models.CharField(max_length=1, db_collation="C", help_text="q quarter hour, d day, m month")
    outcome_key = models.CharField(max_length=128, db_collation="C", blank=True)
    starts_at = models.DateTimeField()
    lane = models.SmallIntegerField()
    outcomes = models.BigIntegerField()
    broken = models.BigIntegerField()
    reports = models.BigIntegerField()
    reached = models.BigIntegerField()
    conversations = models.BigIntegerField()
    first_reported_at = models.DateTimeField(null=True)
    last_reported_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["environment", "grain", "starts_at"], name="tally_by_time")]

    def __str__(self) -> str:
        return f"{self.grain} {self.starts_at:%Y-%m-%d %H:%M}"
