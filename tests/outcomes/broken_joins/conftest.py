"""Broken joins of every diagnosis."""

from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.outcomes.broken_joins.joins_page import environment_of


@pytest.fixture
def production(workspace):
    """Report broken joins of every diagnosis, one that heals after an hour, and an outcome."""
    production, staging = environment_of(workspace, "production"), environment_of(workspace, "staging")
    now = timezone.now()
    register_conversations(production, [Arrival("conv_81Xa"), Arrival("known")], now=now)
    register_conversations(staging, [Arrival("s1"), Arrival("s2"), Arrival("Twin")], now=now)
    ids = ["undefined", "s1", "s2", '"CONV_81xa"', "never", "known", "late", "twin"]
    record_outcomes(production, [Report(id_, "purchase") for id_ in ids], now=now - timedelta(hours=1))
    register_conversations(production, [Arrival("late")], now=now)
    return production
