"""How often something happens: what end users do, and what goes wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass

STAGING_SHARE = 0.12  # the share of conversations in the second environment
UNDECIDED_SHARE, DECLINED_SHARE = 0.04, 0.09  # shares of confirmations
EARLY_STEP_UP_SHARE = 0.8  # of the calls that need a step-up, those in which the user does it without being asked
LOST_ANSWER_SHARE = 0.03


@dataclass(frozen=True)
class Habits:
    """How often something happens.

    legacy_share: the share of reads that are signed as version 1.
    altered_share: the share of conversations in which one of id_mistakes.DIAGNOSES occurs.
    mistake_share: the share of conversations with a wrong call.
    """

    legacy_share: float = 0.05
    altered_share: float = 0.06
    mistake_share: float = 0.11
