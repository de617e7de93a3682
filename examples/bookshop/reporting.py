"""The shop's background reports to the hub: outcomes, shapes of its traffic, results of verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from affidavit import OutcomeReporter, VerificationReports, Witness
from examples.bookshop.keys import Keys

REPORTER = "shop-backend"  # the name under which the shop reports the shapes of its traffic to the hub


@dataclass(frozen=True)
class Reporters:
    """The SDK's reporters, or others with the same methods.

    order_sync: the outcome reporter of the order sync job, which has a key of its own in the sample workspace.
    """

    outcomes: OutcomeReporter | Any
    witness: Witness | Any
    verifications: VerificationReports | Any = None
    order_sync: OutcomeReporter | Any = None

    def close(self, timeout: float) -> None:
        """Send all unsent reports, within `timeout` seconds for each reporter."""
        for reporter in (self.outcomes, self.order_sync, self.verifications, self.witness):
            reporter.close(timeout=timeout)


def build_reporters(keys: Keys, environment: str, hub: str) -> Reporters:
    options: dict[str, Any] = {"environment": environment, "base_url": hub}
    return Reporters(
        outcomes=OutcomeReporter(keys.shop, **options),
        witness=Witness(keys.shop, reporter=REPORTER, **options),
        verifications=VerificationReports(keys.shop, every=2.0, **options),
        order_sync=OutcomeReporter(keys.order_sync, **options),
    )
