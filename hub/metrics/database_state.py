"""The state of the database at the moment of a scrape: what waits, since when, and who is connected."""

from __future__ import annotations

import math
from collections.abc import Iterator

from django.conf import settings
from django.db import connection
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from alerts.models import Delivery
from catalog.inbox_queries import measure_fold_lag, unfolded_reports
from catalog.models import WitnessReport
from wire.postgresql.replica import replica_clock

# Of connections under other roles, the role of the web processes sees neither the state nor the type. Only connections
# of clients have a user, and the parallel workers that run a part of a client's query.
SELECT_CONNECTIONS = """
SELECT coalesce(state, 'unknown'), count(*)
  FROM pg_stat_activity
 WHERE datname = current_database() AND usesysid IS NOT NULL
   AND coalesce(backend_type, 'client backend') = 'client backend'
 GROUP BY 1
"""


class DatabaseState(Collector):
    """The gauges of the database's state, read anew for each scrape."""

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Return nothing, so that adding the collector to a registry does not query the database."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily(
            "affidavit_inbox_reports", "Witness reports that wait to be folded.", value=unfolded_reports().count()
        )
        yield GaugeMetricFamily(
            "affidavit_inbox_oldest_seconds", "How long the oldest witness report has waited; 0 if none waits.",
            value=measure_fold_lag(now=timezone.now()) or 0,
        )  # fmt: skip
        yield GaugeMetricFamily(
            "affidavit_dead_letters", "Witness reports that could not be folded.",
            value=WitnessReport.objects.filter(dead_lettered_at__isnull=False).count(),
        )  # fmt: skip
        yield GaugeMetricFamily(
            "affidavit_alert_deliveries_waiting", "Deliveries of alerts that wait, or are to be tried again.",
            value=Delivery.objects.filter(state=Delivery.WAITING).count(),
        )  # fmt: skip
        yield GaugeMetricFamily(
            "affidavit_alert_dead_letters", "Deliveries of alerts that were given up.",
            value=Delivery.objects.filter(state=Delivery.DEAD).count(),
        )  # fmt: skip
        yield GaugeMetricFamily(
            "affidavit_replica_lag_seconds",
            "How old the read replica is at most: 0 without one, +Inf while it is away.",
            value=measure_replica_lag(),
        )
        connections = GaugeMetricFamily(
            "affidavit_database_connections", "Connections to the hub's database, by state.", labels=["state"]
        )
        with connection.cursor() as cursor:
            cursor.execute(SELECT_CONNECTIONS)
            for state, count in cursor.fetchall():
                connections.add_metric([state], count)
        yield connections


def measure_replica_lag() -> float:
    if not settings.REPLICA_DATABASE_URL:
        return 0
    age = replica_clock.measure_age()
    return math.inf if age is None else age
