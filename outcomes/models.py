"""Conversations, their outcomes (broken joins included), and the tallies of both."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import F, Func, Q

from outcomes.alike_keys import KEY_FORM
from workspaces.models import Environment

ALL_KEYS = ""  # in tallies, the outcome key of the sums over all keys


LOWERED_KEY = Func(F("outcome_key"), template='lower(%(expressions)s COLLATE "default")')

# The numbers at which magnitudes begin: four for each doubling, fewer for small numbers. The first magnitude begins at
# 1; a number that is not positive has magnitude 0.
MAGNITUDE_STEPS = sorted({round(2 ** (n / 4)) for n in range(4 * 40)})
MAGNITUDE = Func(
    F("outcomes"),
    template=f"width_bucket(%(expressions)s, '{{{','.join(map(str, MAGNITUDE_STEPS))}}}'::bigint[])::smallint",
    output_field=models.SmallIntegerField(),
)


class Conversation(models.Model):
    """One row per environment and conversation id, known or not, so that a report and a registration lock the same row.

    A conversation is known once `started_at` is set; until then its row exists only because an outcome named it.
    """

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="conversations", db_index=False)
    conversation_id = models.CharField(max_length=255, db_collation="C")
    started_at = models.DateTimeField(null=True)
    registered_at = models.DateTimeField(null=True)
    # Null while not known, so that its index holds known conversations only.
    bare_form = models.CharField(  # noqa: DJ001  # null and empty differ
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
    """One outcome of a conversation, a row for each key; a broken join while the conversation is not known.

    Repeats change `reports` and `last_reported_at` only, and the `own_` fields after a move; healing keeps the times
    (contract §2). There is no foreign key constraint, because the statement that writes an outcome writes its
    conversation too.

    conversation_id: the row id of the conversation.
    """

    pk = models.CompositePrimaryKey("environment_id", "conversation_id", "outcome_key")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+", db_index=False)
    conversation_id = models.BigIntegerField()
    # The SQL join compares the environment too, so that it reads one partition.
    conversation = models.ForeignObject(
        Conversation,
        from_fields=["environment", "conversation_id"],
        to_fields=["environment", "id"],
        on_delete=models.CASCADE,
        related_name="outcomes",
    )
    outcome_key = models.CharField(max_length=128, db_collation="C")
    reports = models.BigIntegerField()
    first_reported_at = models.DateTimeField()
    last_reported_at = models.DateTimeField()
    broken = models.BooleanField()
    healed_at = models.DateTimeField(null=True)
    reported_by = models.BigIntegerField(null=True, help_text="The API key that first reported it.")
    # How many of the reports were moved in from another environment. While there are any, the next three fields keep
    # what was reported to this environment itself (null: nothing), so that a move can be undone exactly.
    moved_in = models.BigIntegerField(db_default=0)
    own_first_reported_at = models.DateTimeField(null=True)
    own_last_reported_at = models.DateTimeField(null=True)
    own_reported_by = models.BigIntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["environment", "outcome_key", "first_reported_at"], name="outcome_by_key_and_time"),
            models.Index(fields=["environment", "first_reported_at"], name="still_broken", condition=Q(broken=True)),
            models.Index(
                fields=["environment", "last_reported_at", "first_reported_at"],
                name="broken_by_last_report",
                condition=Q(broken=True),
            ),
            models.Index(
                fields=["environment", "healed_at"],
                name="healed_lately",
                condition=Q(healed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.outcome_key

    @property
    def healed_after(self) -> timedelta | None:
        """Return how long the outcome was a broken join; None if it still is one, or never was.

        Reports that were moved in from another environment do not count: they were no broken join of this one.
        """
        return self.healed_at - (self.own_first_reported_at or self.first_reported_at) if self.healed_at else None


class Tally(models.Model):
    """The counts of one bucket of UTC time for one key, or for all keys if `outcome_key` is ALL_KEYS.

    outcomes, broken, reports: counts of the outcomes that were first reported in the bucket.
    first_reported_at, last_reported_at: the times of their first and last report.
    conversations: how many started in the bucket.
    reached: how many outcomes these conversations have, whenever reported.
    magnitude: how many of MAGNITUDE_STEPS the number of outcomes has reached. An index by magnitude finds the top keys
        of a bucket, and need not change with every report.

    The counter is sharded: writers at the same moment use different shards, so that none waits for another's commit.
    Readers sum the shards; one shard may be negative.
    """

    pk = models.CompositePrimaryKey("environment_id", "grain", "outcome_key", "starts_at", "shard")
    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    grain = models.CharField(max_length=1, db_collation="C", help_text="q quarter hour, d day, m month")
    outcome_key = models.CharField(max_length=128, db_collation="C", blank=True)
    starts_at = models.DateTimeField()
    shard = models.SmallIntegerField(db_column="lane")
    outcomes = models.BigIntegerField()
    magnitude = models.GeneratedField(expression=MAGNITUDE, output_field=models.SmallIntegerField(), db_persist=True)
    broken = models.BigIntegerField()
    reports = models.BigIntegerField()
    reached = models.BigIntegerField()
    conversations = models.BigIntegerField()
    first_reported_at = models.DateTimeField(null=True)
    last_reported_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["environment", "grain", "starts_at", "-magnitude"], name="leading_by_time"),
            # Few rows for each key (one for each month and shard), indexed by form, to look up keys of one form.
            models.Index("environment", KEY_FORM, name="alike_keys", condition=Q(grain="m")),
        ]

    def __str__(self) -> str:
        return f"{self.grain} {self.starts_at:%Y-%m-%d %H:%M}"


class OutcomeKey(models.Model):
    """Every key that was ever reported to an environment, once: a search reads these instead of the tallies.

    A key stays when a move takes all of its outcomes away.

    lowered: the key in lower case.
    """

    pk = models.CompositePrimaryKey("environment_id", "outcome_key")
    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    outcome_key = models.CharField(max_length=128, db_collation="C")
    lowered = models.GeneratedField(
        expression=LOWERED_KEY, output_field=models.TextField(db_collation="C"), db_persist=True
    )

    def __str__(self) -> str:
        return self.outcome_key


class ApiKeyTally(models.Model):
    """The numbers of outcomes and broken joins that one API key was the first to report, by the UTC time of the report.

    Grains and shards are as in Tally. `api_key` is a row id of the workspace's keys.
    """

    pk = models.CompositePrimaryKey("environment_id", "grain", "api_key", "starts_at", "shard")
    environment = models.ForeignKey(
        Environment, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    grain = models.CharField(max_length=1, db_collation="C", help_text="q quarter hour, d day, m month")
    api_key = models.BigIntegerField()
    starts_at = models.DateTimeField()
    shard = models.SmallIntegerField(db_column="lane")
    outcomes = models.BigIntegerField()
    broken = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["environment", "grain", "starts_at"], name="api_key_tally_by_time")]

    def __str__(self) -> str:
        return f"{self.grain} {self.starts_at:%Y-%m-%d %H:%M}"


class MoveManager(models.Manager["Move"]):
    def list_for(self, environment: Environment) -> models.QuerySet[Move]:
        """Return the moves from and to this environment, the latest first."""
        return self.filter(Q(source=environment) | Q(target=environment)).select_related("source", "target")

    def list_readable(self, environment: Environment) -> models.QuerySet[Move]:
        """Return the moves from and to this environment whose other environment the reader may see, too."""
        readable = environment.readable
        return self.list_for(environment).filter(source__in=readable, target__in=readable)


class Move(models.Model):
    """One move of broken joins to the environment that knows their conversations, and whether it was undone."""

    source = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="moves_away")
    target = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="moves_here")
    moved_at = models.DateTimeField()
    moved_by = models.CharField(max_length=150)
    outcomes = models.IntegerField(help_text="How many broken joins were moved.")
    met = models.IntegerField(help_text="How many of them met an outcome that was there already.")
    undone_at = models.DateTimeField(null=True)
    undone_by = models.CharField(max_length=150, blank=True)

    objects = MoveManager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.outcomes} from {self.source} to {self.target}"


class MovedOutcome(models.Model):
    """A broken join as it was before a move, so that it can be restored."""

    move = models.ForeignKey(Move, on_delete=models.CASCADE, related_name="moved")
    came_from = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    outcome_key = models.CharField(max_length=128, db_collation="C")
    reports = models.BigIntegerField()
    first_reported_at = models.DateTimeField()
    last_reported_at = models.DateTimeField()
    reported_by = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return self.outcome_key
