"""An alert is described with its thresholds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.rules.alert_descriptions import describe_alert
from alerts.rules.thresholds import Thresholds

USUAL = Thresholds()


@pytest.mark.parametrize(
    ("percent", "factor", "words"),
    [
        (1, 3, "at least 1 % and 3 times the usual share"),
        (0.00001, 1, "at least 0.00001 % and the usual share"),
        (33.333333, 1.0000001, "at least 33.333333 % and 1.0000001 times the usual share"),
    ],
)
def test_an_alert_has_its_thresholds_as_they_were_typed(percent, factor, words):
    assert describe_alert("rejections.spike", replace(USUAL, percent=percent, factor=factor)).endswith(words)
