"""From rows to sums: what was reported under a template, and what is shown of it by the rules that stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from affidavit.operations import Identity, OperationSum
from catalog.evidence.parts import own_evidence
from catalog.models import Operation
from catalog.rules.resolution import Rules, laid_out


def identity_of(row: Operation) -> Identity:
    return Identity(row.method, row.key)


def facts(summed: OperationSum) -> dict[str, Any]:
    """All of a sum but its evidence, as `Operation.own` keeps it."""
    return {"first": summed.first, "last": summed.last, **summed.to_facts()}


def facts_of_row(row: Operation) -> Mapping[str, Any]:
    """The same of what was reported under a row's very template."""
    if row.reported_facts is not None:
        return row.reported_facts
    return {
        "first": int(row.first_seen_at.timestamp()),
        "last": int(row.last_seen_at.timestamp()),
        "statuses": row.statuses,
        "names": row.names,
        "types": row.types,
        "undecided": row.undecided,
    }


def own_counts(row: Operation) -> OperationSum | None:
    """What was reported under a row's very template, without evidence; None where nothing was reported yet."""
    held = facts_of_row(row)
    return OperationSum.from_state({**held, "parts": []}) if held.get("statuses") else None


def own_sum(row: Operation) -> OperationSum | None:
    """The same with the evidence that is shown."""
    summed = own_counts(row)
    if summed is not None:
        summed.evidence = own_evidence(row)
    return summed


def shown_sum(row: Operation, rules: Rules) -> OperationSum | None:
    """What is shown of a row: its own, and where nothing hides it, that of all that is shown under it."""
    sums = ((row.key, row), *((member.key, member) for member in row.shown_here.all()))
    return together(identity_of(row), ((key, found) for key, one in sums if (found := own_sum(one))), rules)


def together(place: Identity, sums: Iterable[tuple[str, OperationSum]], rules: Rules) -> OperationSum | None:
    """A new sum of those of several templates, as shown in one place; None of none.

    The names that a rule gives win, and who wrote it has decided which segments are data.
    """
    total: OperationSum | None = None
    for key, summed in sums:
        part = laid_out(summed, key, place.key)
        total = total or nothing_like(part)
        total.add(part)
    names = rules.names(place)
    if total and names is not None:
        total.names = [Counter({name: total.observations}) for name in names]
        total.undecided = Counter()
    return total


def nothing_like(summed: OperationSum) -> OperationSum:
    """A sum of nothing with as many parameters, to which the other can be added without being changed later."""
    return OperationSum(
        summed.first, summed.last, names=[Counter() for _ in summed.names], types=[Counter() for _ in summed.types]
    )
