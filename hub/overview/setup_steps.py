"""The setup steps of the overview page, from nothing to first data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SetupStep:
    """One step from nothing to first data.

    page: where the code to copy is.
    is_done: whether data have arrived.
    """

    title: str
    text: str
    page: str
    is_done: bool


def list_setup_steps(
    *, has_operations: bool, has_outcomes: bool, has_verifications: bool, has_decisions: bool
) -> Sequence[SetupStep]:
    """Return the setup steps; each is done once its data have arrived in this environment."""
    return [
        SetupStep("Create a workspace", "Its keys and its signing secret were shown once.", "", True),
        SetupStep(
            "Observe an API", "A backend reports the shapes of its requests and responses.", "catalog", has_operations
        ),
        SetupStep("Report an outcome", "With the id of the conversation that led to it.", "outcomes", has_outcomes),
        SetupStep(
            "Verify an intent", "A backend checks the signed header of each call.", "rejections", has_verifications
        ),
        SetupStep(
            "Confirm a call", "A call that changes something waits for a decision.", "confirmations", has_decisions
        ),
    ]
