"""The verifier of one environment: its workspace's secrets, its audience, the hub's nonces."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from affidavit import Intent, IntentVerifier
from intents.gate.signing_secrets import secrets_in_force
from intents.verification.nonces import NONCES
from intents.verification.received_request import Presented
from workspaces.models import Environment


def verifier_of(environment: Environment, *, now: datetime) -> IntentVerifier:
    workspace = environment.workspace
    secrets = secrets_in_force(workspace, now=now)
    return IntentVerifier(
        lambda _: secrets,
        workspace.id,
        environment.audience,
        NONCES,
        accept_v1=workspace.v1_until.timestamp() if workspace.v1_until else True,
        step_up=step_up,
        now=now.timestamp,
    )


def step_up(intent: Intent, presented: Any) -> bool:
    """The backend says itself whether its gate has run."""
    return isinstance(presented, Presented) and presented.step_up
