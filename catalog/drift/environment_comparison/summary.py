"""The summary of an environment comparison: how many differences, what they break, and what both sides have lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catalog.change_kinds import NOBODY, PRODUCER
from catalog.drift.environment_comparison.catalog_rows import load_catalog_rows
from catalog.drift.environment_comparison.differences import WHOLE_OPERATION, OperationChange
from catalog.drift.presence.current_presence import PresenceState
from catalog.drift.presence.load_absent import AbsentByOperation, AbsentPlaces
from workspaces.models import Environment

NAMED = 3  # the headline names at most this many differences that may break


@dataclass(frozen=True)
class ComparisonSummary:
    """The numbers of differences.

    certain, probable, uncertain: all differences, by how certain they are.
    resets: how many entries are no differences: they say what is not compared, because it was not observed since a
        baseline reset.
    breaking: the certain differences that break a client or a server, at most one for each node.
    probably_breaking, perhaps_breaking: the probable and the uncertain differences that do.
    perhaps: the differences of `perhaps_breaking` that the headline mentions: whole operations, and what was sent often
        enough.
    is_for_clients: whether each of `breaking` breaks clients, or each of `probably_breaking` if `breaking` is 0.
    first: the first of `breaking`, or of `probably_breaking` if there is none.
    """

    certain: int
    probable: int
    uncertain: int
    resets: int
    breaking: int
    probably_breaking: int
    perhaps_breaking: int
    perhaps: Sequence[OperationChange]
    is_for_clients: bool
    first: OperationChange | None

    @property
    def breaks_several(self) -> bool:
        return self.breaking + self.probably_breaking > 1

    @property
    def perhaps_operations(self) -> int:
        return sum(row.change.part == WHOLE_OPERATION for row in self.perhaps)

    @property
    def perhaps_fields(self) -> int:
        return len(self.perhaps) - self.perhaps_operations

    @property
    def names_perhaps(self) -> bool:
        """Return whether the headline names all of `perhaps`."""
        return len(self.perhaps) <= NAMED

    @property
    def needs_perhaps_breaking(self) -> bool:
        """Return whether to show the number `perhaps_breaking`: the headline does not mention all of these."""
        is_headline = not self.breaking and not self.probably_breaking
        return self.perhaps_breaking > (len(self.perhaps) if is_headline else 0)


def sort_differences(rows: Iterable[OperationChange]) -> list[OperationChange]:
    """Sort the differences: those that break somebody, then whatever else is gone, then other changes of single nodes.

    Last are the other changes of whole parts, then baseline resets.
    """
    return sorted(rows, key=_rank)


def _rank(row: OperationChange) -> int:
    if row.is_reset:
        return 6
    if row.change.breaks:
        return 0 if row.is_certain else 1 if row.is_probable else 2
    if row.change.kind == "gone":
        return 3
    return 4 if row.change.pointer else 5


def summarize_comparison(rows: Sequence[OperationChange]) -> ComparisonSummary:
    differences = [row for row in rows if not row.is_reset]
    certain = [row for row in differences if row.is_certain]
    probable = [row for row in differences if row.is_probable]
    uncertain = [row for row in differences if not row.is_certain and not row.is_probable]
    perhaps_breaking = [row for row in uncertain if row.change.breaks]
    breaking = [row for row in certain if row.change.breaks]
    probably_breaking = [row for row in probable if row.change.breaks != NOBODY]
    return ComparisonSummary(
        certain=len(certain),
        probable=len(probable),
        uncertain=len(uncertain),
        resets=len(rows) - len(differences),
        breaking=len({(row.method, row.path, row.change.part, row.change.pointer) for row in breaking}),
        probably_breaking=len(probably_breaking),
        perhaps_breaking=len(perhaps_breaking),
        perhaps=[row for row in perhaps_breaking if not row.is_of_few_calls],
        is_for_clients=all(row.change.breaks != PRODUCER for row in breaking or probably_breaking),
        first=next(iter(breaking or probably_breaking), None),
    )


@dataclass(frozen=True)
class LostProperty:
    """A property that both environments have lost.

    state, state_against: how certainly each environment has lost it.
    """

    method: str
    path: str
    part: str
    pointer: str
    state: PresenceState
    state_against: PresenceState

    @property
    def is_unreported(self) -> bool:
        """Return whether one of the two lost it too lately for its drift to report it."""
        return PresenceState.PROBABLY_GONE in (self.state, self.state_against)


def find_lost_by_both(
    environment: Environment, absent: AbsentByOperation, absent_against: AbsentByOperation
) -> list[LostProperty]:
    """Return the properties that both have lost; [] if drift has reported all of these losses in both environments.

    They are no difference, so the comparison does not show them. First come those with an unreported loss.
    """
    rows = load_catalog_rows(environment)
    properties: list[LostProperty] = []
    for key, absent_here in absent.items():
        other = absent_against.get(key)
        if other is None or key not in rows:
            continue
        for pointer_of_part in absent_here.gone & other.gone:
            states = (_find_state(places, pointer_of_part) for places in (absent_here, other))
            properties.append(LostProperty(key[0], rows[key].path, *pointer_of_part, *states))
    properties.sort(key=lambda item: (not item.is_unreported, item.path, item.method, item.part, item.pointer))
    return properties if any(item.is_unreported for item in properties) else []


def _find_state(absent: AbsentPlaces, pointer_of_part: tuple[str, str]) -> PresenceState:
    return PresenceState.PROBABLY_GONE if pointer_of_part in absent.probably_gone else PresenceState.NO_LONGER_SEEN
