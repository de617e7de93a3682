"""Whether a property is sent now, is absent lately, or is no longer seen: the one rule of every page."""

from __future__ import annotations

from typing import Any

from affidavit import Evidence, infer
from catalog.drift.presence.current_presence import PresenceState, find_current_presence
from catalog.evidence.nodes import list_nodes


def judge(absence: list[Any], *bodies: Any, pointer: str = "/a") -> PresenceState:
    evidence = Evidence()
    for body in bodies:
        evidence.add(infer(body))
    nodes = {node.pointer: node for node in list_nodes(evidence, observations=len(bodies))}
    return find_current_presence({"/a": absence}, nodes, pointer).state


def test_an_absence_that_is_usual_for_a_property_leaves_it_as_seen():
    often, rarely = [{"a": {"b": 1}}, {}], [{"a": 1}, *[{}] * 9]
    assert judge([0], *often) is PresenceState.SEEN
    assert judge([3, 2], *often * 4) is PresenceState.ABSENT_LATELY
    assert judge([2, 2], *often * 4) is PresenceState.SEEN  # an earlier absence was as long
    assert judge([3, 2], *rarely) is PresenceState.SEEN  # so rare that its absence means nothing
    assert judge([3, 2, 1], *often * 4) is PresenceState.NO_LONGER_SEEN


def test_a_property_is_absent_with_the_object_around_it():
    bodies = [{"a": {"b": 1}}] * 9
    assert judge([3, 0, 1], *bodies, pointer="/a/b") is PresenceState.NO_LONGER_SEEN
    assert judge([3, 0], *bodies, pointer="/a/b") is PresenceState.ABSENT_LATELY
