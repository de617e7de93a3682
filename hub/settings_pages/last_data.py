"""Read when the last data of each environment came, from the rows of all domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from catalog.inbox_queries import count_dead_letters, find_last_witness_reports
from intents.rejections.tallies.first_and_last_verifications import find_last_verifications
from outcomes.tallies.first_and_last_data import find_last_reports
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
    environments = workspace.environments.order_by("id")
    ids = [environment.pk for environment in environments]
    witness_reports, outcomes = find_last_witness_reports(ids), find_last_reports(ids)
    verifications, dead_letters = find_last_verifications(ids), count_dead_letters(ids)
    return [
        LastData(
            environment,
            witness_reports.get(environment.pk),
            outcomes.get(environment.pk),
            verifications.get(environment.pk),
            dead_letters.get(environment.pk, 0),
        )
        for environment in environments
    ]
