"""Count the accepted calls of the default period by the version of their intents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from intents.rejections.tallies.read_tallies import FORWARD_DAYS, NO_FILTERS, TALLIES_OF_SEGMENTS, tallies_query
from intents.reports.verification import ACCEPTED
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import cover
from wire.time.period import DEFAULT_PRESET, parse_period
from workspaces.models import Workspace

SELECT_VERSIONS = f"SELECT environment_id, version, result, sum(count)::bigint {TALLIES_OF_SEGMENTS} GROUP BY 1, 2, 3"


@dataclass(frozen=True)
class VersionCounts:
    """Accepted calls of the default period: those of version 1, and all whose version was reported."""

    v1: int
    total: int


def count_versions(workspace: Workspace, *, now: datetime) -> VersionCounts:
    """Count the accepted calls of all environments of a workspace by version."""
    counts = count_versions_by_environment(workspace, now=now).values()
    return VersionCounts(sum(versions.v1 for versions in counts), sum(versions.total for versions in counts))


def count_versions_by_environment(workspace: Workspace, *, now: datetime) -> Mapping[int, VersionCounts]:
    """Count the accepted calls by version, by the row id of each environment that has any."""
    period = parse_period({"range": DEFAULT_PRESET}, now=now)
    segments = cover(period.start, period.end + FORWARD_DAYS)
    environments = workspace.environments.values_list("pk", flat=True)
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_VERSIONS, tallies_query(list(environments), segments, NO_FILTERS))
        for environment, version, result, count in cursor.fetchall():
            if result == ACCEPTED and version in (1, 2):
                counts[environment][version] += count
    return {environment: VersionCounts(versions[1], versions.total()) for environment, versions in counts.items()}
