"""The stored counters of absences, also those of earlier versions, can be read and counted on."""

from __future__ import annotations

import pytest

from affidavit import infer
from catalog.change_kinds import SEEN_AGAIN
from catalog.drift.presence.absence_counters import Absence, update_absences

WITH_NOTE = {"id": 1, "note": "x"}


@pytest.mark.parametrize("stored", [[3], [3, 40, 1], [3, 40, 0, "remark"], [3, 40, 1, "", 7, 9]])
def test_stored_counters_of_earlier_versions_can_be_read(stored):
    absence = Absence.from_state(stored)
    assert absence.to_state() == stored + Absence().to_state()[len(stored) :]
    assert (absence.absent, absence.is_reported) == (3, stored[2:3] == [1])


def test_a_property_no_longer_seen_in_counters_of_an_earlier_version_can_be_seen_again():
    counters, events = update_absences({"/note": [30, 0, 1, "", 0, 0]}, infer(WITH_NOTE), infer(WITH_NOTE))
    assert [event.kind for event in events] == [SEEN_AGAIN]
    assert counters == {"/note": [0, 30, 0, "", 0, 0, 0]}
