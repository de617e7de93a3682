"""The kinds of data that a workspace can keep for a limited number of days, and the functions that delete them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from alerts.delivery import prune as alerts
from catalog import reporter_activity
from catalog.ingest import prune as catalog_prune
from intents.gate import prune as gate
from intents.reports import prune as reports
from outcomes.broken_joins import prune as broken_joins
from wire.batches import delete_batch
from wire.postgresql.monthly_partitions import MonthlyLog
from workspaces.annotations import prune as annotation_prune
from workspaces.audit import prune as audit
from workspaces.models import RetentionPolicy, Workspace
from workspaces.refusals import prune as refusals

# At least: the preview of alerts on silent reporters judges 30 days, and the first of them by the 30 days before it.
ACTIVITY_DAYS = 62
OBSERVED_DAYS = 400  # how long shapes by day are kept, unless a workspace says otherwise
REPORT_ID_DAYS = 400  # how long report ids are kept, unless a workspace says otherwise (contract §1)


@dataclass(frozen=True)
class RowSource:
    """One table with data of a kind.

    find: returns the rows that are older than a time.
    delete: deletes a batch of these rows, where that takes more than to delete the rows that `find` returns.
    log: the table's monthly partitions if it has any: whole months are dropped.
    least_days: the days for which the rows are kept although the policy says fewer.
    """

    find: Callable[[Workspace, datetime], QuerySet[Any]]
    delete: Callable[[Workspace, datetime, int], int] | None = None
    log: MonthlyLog | None = None
    least_days: int = 0

    def find_end(self, days: int, *, now: datetime) -> datetime:
        """Return the time before which rows have expired, if a policy keeps them for these days."""
        return now - timedelta(days=max(days, self.least_days))

    def delete_batch(self, workspace: Workspace, before: datetime, batch: int) -> int:
        """Delete at most `batch` of the rows that are older than a time; return how many."""
        if self.delete is not None:
            return self.delete(workspace, before, batch)
        return delete_batch(self.find(workspace, before), batch)


@dataclass(frozen=True)
class Kind:
    """One kind of data, which a policy keeps for a number of days.

    name: the field of the policy that has the number.
    default_days: the days if the field is empty; None keeps the data for ever.
    """

    name: str
    label: str
    meaning: str
    sources: tuple[RowSource, ...]
    default_days: int | None = None

    def days(self, policy: RetentionPolicy | None) -> int | None:
        return getattr(policy, self.name, None) or self.default_days

    def count_expired(self, workspace: Workspace, policy: RetentionPolicy | None, *, now: datetime) -> int:
        """Return how many rows are older than the policy allows."""
        days = self.days(policy)
        if days is None:
            return 0
        return sum(source.find(workspace, source.find_end(days, now=now)).count() for source in self.sources)


KINDS = (
    Kind(
        "broken_joins",
        "Broken joins",
        "Reported outcomes whose conversation is not known. Once deleted, they can no longer heal.",
        (RowSource(broken_joins.find_expired_joins, broken_joins.delete_expired_joins),),
    ),
    Kind(
        "rejections",
        "Rejections",
        "Single rejected verifications, with their tool call; and counts of refused requests by hour.",
        (
            RowSource(reports.find_expired_rejections, log=reports.REJECTIONS),
            RowSource(refusals.find_expired_refusals, refusals.delete_expired_refusals),
        ),
    ),
    Kind(
        "minted_intents",
        "Minted intents",
        "Who was permitted which operation, without the arguments.",
        (RowSource(gate.find_expired_intents, log=gate.MINTED_INTENTS),),
    ),
    Kind(
        "confirmations",
        "Confirmations",
        "Requested calls with their summary and decision.",
        (RowSource(gate.find_expired_confirmations),),
    ),
    Kind(
        "inbox",
        "Report ids",
        "Ids of processed reports. A report that arrives again after its id was deleted counts twice.",
        (
            RowSource(catalog_prune.find_expired_reports, log=catalog_prune.INBOX),
            RowSource(catalog_prune.find_expired_ids, catalog_prune.delete_expired_ids),
            RowSource(reports.find_expired_reports),
        ),
        default_days=REPORT_ID_DAYS,
    ),
    Kind(
        "audit",
        "Audit log",
        "Who changed what in this workspace, and when.",
        (RowSource(audit.find_expired_entries, log=audit.AUDIT_LOG),),
    ),
    Kind(
        "observed_days",
        "Shapes by day",
        "What was observed of each operation on each day, for pages that show a period. Sums of all time stay.",
        (RowSource(catalog_prune.find_expired_days),),
        default_days=OBSERVED_DAYS,
    ),
    Kind(
        "annotations",
        "Annotations",
        "Events that charts mark, such as deploys and campaigns.",
        (RowSource(annotation_prune.find_expired_annotations),),
    ),
    Kind(
        "alerts",
        "Alerts",
        f"What fired, with its deliveries; and, for at least {ACTIVITY_DAYS} days, in which quarter hours each "
        "reporter reported.",
        (
            RowSource(alerts.find_expired_events, alerts.delete_expired_events),
            RowSource(
                reporter_activity.find_expired_activity,
                reporter_activity.delete_expired_activity,
                least_days=ACTIVITY_DAYS,
            ),
        ),
        default_days=alerts.KEPT_DAYS,
    ),
)
