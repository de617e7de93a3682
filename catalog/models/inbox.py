"""The inbox of witness reports."""

from __future__ import annotations

from typing import Any

from django.db import models

from workspaces.models import Environment, Workspace


class WitnessReportId(models.Model):
    """The id of a received report.

    digest: the keyed hash of its body's SHA-256; a repeated delivery has the same digest.

    The ids have a table of their own, because an id must be unique over all months, and the inbox is partitioned by
    month.
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

    sums: the sums as affidavit.operations.DailySums.to_state() returns them, packed by catalog.ingest.observations;
        null once the report is folded.
    size: the bytes of the body as received.
    dead_lettered_at, fault: when and why it was set aside, because it could not be folded.

    The table is partitioned by month. Its primary key in the database is (environment_id, received_at, id).
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
