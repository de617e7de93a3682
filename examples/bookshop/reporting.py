"""What the shop tells the hub, in the background: outcomes, the shapes of its traffic, how intents were verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from affidavit import OutcomeReporter, VerificationReports, Witness


@dataclass(frozen=True)
class Reporters:
    """affidavit's own, or others with the same faces."""

    outcomes: OutcomeReporter | Any
    witness: Witness | Any
    verifications: VerificationReports | Any = None

    def close(self, timeout: float) -> None:
        """Send what is left, within `timeout` seconds each."""
        for reporter in (self.outcomes, self.verifications, self.witness):
            reporter.close(timeout=timeout)


def live(api_key: str, environment: str, hub: str) -> Reporters:
    way: dict[str, Any] = {"environment": environment, "base_url": hub}
    verifications = VerificationReports(api_key, every=2.0, **way)
    return Reporters(OutcomeReporter(api_key, **way), Witness(api_key, **way), verifications)
