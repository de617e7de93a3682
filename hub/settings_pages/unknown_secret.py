"""Whether a backend seems to lack the secret that signs (pure)."""

from __future__ import annotations

from typing import NamedTuple

from intents.rejections.call_outage.call_outage_rule import MIN_OUTAGE
from wire.significance import is_within_chance


class CallsOfSecret(NamedTuple):
    """What became of the calls of one environment before and after a secret began to sign them.

    accepted: calls that backends verified with this secret; None if calls were accepted, but the reports do not say
        with which secret. Calls of the previous secret do not count: some are in flight when the new one begins to
        sign.
    rejected: calls that were rejected as `bad-signature`.
    rejected_before, verified_before: in the seven days before, the calls that were rejected as `bad-signature`, and all
        verified calls.
    """

    accepted: int | None
    rejected: int
    rejected_before: int
    verified_before: int


def seems_unknown(calls: CallsOfSecret) -> bool:
    """Return whether no backend of the environment seems to have the secret.

    One call that was verified with it is enough for False: then some backends have it, and the page of signing secrets
    names those that have not verified with it.
    """
    rejected = calls.rejected
    if calls.accepted != 0 or rejected < MIN_OUTAGE:
        return False
    before = calls.rejected_before, calls.verified_before
    return not calls.verified_before or not is_within_chance(rejected, rejected, *before)
