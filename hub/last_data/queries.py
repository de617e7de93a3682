"""Read when the last data of each environment came, from the rows of all domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from catalog.models import Operation, WitnessReport
from catalog.queries import dead_letters
from intents.rejections.read_outage import find_last_verification
from outcomes.tallies.series import find_last_report
from workspaces.models import Environment, Workspace


@dataclass(frozen=True)
class LastData:
    """When the last data of one environment came; None if there are none.

    witness_report_at: when the last witness report was received; if none is stored any more, the last observation.
    outcome_at: when the last outcome was reported.
    verification_at: the time of the last verification, as its backend reported it.
    dead_letters: witness reports that could not be folded. Outcomes and verifications are stored at once, or refused.
    """

    environment: Environment
    witness_report_at: datetime | None
    outcome_at: datetime | None
    verification_at: datetime | None
    dead_letters: int


def read_last_data(workspace: Workspace) -> Sequence[LastData]:
    """Return the last data of each environment, in the order of the page."""
    return [_read_environment(environment) for environment in workspace.environments.order_by("id")]


def _read_environment(environment: Environment) -> LastData:
    return LastData(
        environment,
        _find_last_witness_report(environment),
        find_last_report(environment),
        find_last_verification(environment),
        dead_letters(environment).count(),
    )


def _find_last_witness_report(environment: Environment) -> datetime | None:
    reports = WitnessReport.objects.filter(environment=environment).order_by("-received_at")
    received_at = reports.values_list("received_at", flat=True).first()
    return received_at or Operation.objects.filter(environment=environment).aggregate(last=Max("last_seen_at"))["last"]
