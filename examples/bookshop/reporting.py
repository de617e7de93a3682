"""The shop's background reports to the hub: outcomes, shapes of its traffic, results of verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from affidavit import OutcomeReporter, VerificationReports, Witness


@dataclass(frozen=True)
class Reporters:
    """The SDK's reporters, or others with the same methods."""

    outcomes: OutcomeReporter | Any
    witness: Witness | Any
    verifications: VerificationReports | Any = None

    def close(self, timeout: float) -> None:
        """Send what is unsent, within `timeout` seconds for each reporter."""
        for reporter in (self.outcomes, self.verifications, self.witness):
            reporter.close(timeout=timeout)


def build_reporters(api_key: str, environment: str, hub: str) -> Reporters:
    options: dict[str, Any] = {"environment": environment, "base_url": hub}
    verifications = VerificationReports(api_key, every=2.0, **options)
    return Reporters(OutcomeReporter(api_key, **options), Witness(api_key, **options), verifications)
