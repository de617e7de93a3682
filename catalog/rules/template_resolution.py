"""Find the template under which an operation is shown, by the active template rules (pure).

Evidence stays under the template as reported. A rule changes only what is shown, so undoing it gives exactly the
result without the rule (contract §4).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from affidavit.operations import PARAMETER, Identity, OperationSum, strip_names

EVERY_METHOD = ""  # the method of a rule that is for all methods


class RuleCircle(ValueError):
    """The rules lead from a template back to itself."""


@dataclass(frozen=True)
class Rule:
    """Show under `target` what is reported under `source`. Only `target` has names of parameters.

    number: a later rule has a higher one.
    matching: whether all other templates that match the target are shown there.
    """

    number: int
    method: str
    source: str
    target: str
    matching: bool = False

    @cached_property
    def target_key(self) -> str:
        return strip_names(self.target)

    @cached_property
    def target_names(self) -> list[str]:
        return PARAMETER.findall(self.target)

    @cached_property
    def target_pattern(self) -> re.Pattern[str]:
        return re.compile("[^/]+".join(map(re.escape, self.target_key.split("{}"))))

    def is_for(self, method: str) -> bool:
        return self.method in (EVERY_METHOD, method)

    def matches(self, identity: Identity) -> bool:
        is_candidate = self.matching and self.is_for(identity.method) and identity.key != self.target_key
        return is_candidate and bool(self.target_pattern.fullmatch(identity.key))


class RuleSet:
    """The active rules of one environment.

    An operation follows the rule that names its template; one for its method wins over one for all methods. Otherwise
    it follows the rule whose target it matches: the one with the fewest parameters, and of these the oldest.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = sorted(rules, key=lambda rule: rule.number)
        self._by_source = {(rule.method, rule.source): rule for rule in self.rules}
        matching = [rule for rule in self.rules if rule.matching]
        self._matching = sorted(matching, key=lambda rule: len(rule.target_names))

    @property
    def newest_number(self) -> int:
        """Return the number of the newest rule; 0 if there is none."""
        return self.rules[-1].number if self.rules else 0

    def find_rule(self, identity: Identity) -> Rule | None:
        """Return the rule that an operation follows."""
        for method in (identity.method, EVERY_METHOD):
            if rule := self._by_source.get((method, identity.key)):
                return rule
        return next((rule for rule in self._matching if rule.matches(identity)), None)

    def find_same(self, new_rule: Rule) -> Rule | None:
        """Return a rule that says the same as a new one, unless a later rule changes what it says."""
        for rule in reversed(self.rules):
            if replace(rule, number=new_rule.number) == new_rule:
                return rule
            renames = rule.target_key == new_rule.target_key and rule.target != new_rule.target
            if rule.source == new_rule.source or renames:
                return None
        return None

    def resolution_path(self, identity: Identity) -> list[Rule]:
        """Return the rules that lead from an operation to where it is shown, in order. Raises RuleCircle."""
        path: list[Rule] = []
        visited_keys = {identity.key}
        current = identity
        while (rule := self.find_rule(current)) and rule.target_key != current.key:
            if rule.target_key in visited_keys:
                raise RuleCircle
            path.append(rule)
            visited_keys.add(rule.target_key)
            current = Identity(identity.method, rule.target_key)
        return path

    def visible_identity(self, identity: Identity) -> Identity:
        """Return the operation under which this one is shown; itself, if no rule says otherwise."""
        path = self.resolution_path(identity)
        return Identity(identity.method, path[-1].target_key) if path else identity

    def list_reachable(self, identity: Identity) -> set[Identity]:
        """Return the operations under which this one would be shown if some of the rules were undone, and itself."""
        reachable = {identity}
        queue = [identity]
        while queue:
            current = queue.pop()
            rules = [rule for rule in self.rules if rule.source == current.key or rule.matches(current)]
            targets = {Identity(identity.method, rule.target_key) for rule in rules if rule.is_for(identity.method)}
            queue += targets - reachable
            reachable |= targets
        return reachable

    def find_names(self, identity: Identity) -> Sequence[str] | None:
        """Return the names of an operation's parameters by the newest rule that leads to it; None if none does."""
        leading = (rule for rule in reversed(self.rules) if rule.target_key == identity.key)
        return next((rule.target_names for rule in leading if rule.is_for(identity.method)), None)

    def applies_to(self, identity: Identity) -> bool:
        """Return whether a rule leads from this operation or to it."""
        return bool(self.find_rule(identity)) or self.find_names(identity) is not None

    @property
    def has_circle(self) -> bool:
        """Return whether the rules lead in a circle, so that some operation would be shown nowhere."""
        keys = {key for rule in self.rules for key in (rule.source, rule.target_key)}
        methods = {EVERY_METHOD, *(rule.method for rule in self.rules)}
        try:
            for method in methods:
                for key in keys:
                    self.resolution_path(Identity(method, key))
        except RuleCircle:
            return True
        return False

    def sum_under(self, identity: Identity, sums: Iterable[tuple[str, OperationSum]]) -> OperationSum:
        """Return the total of `sums` (pairs of a template's key and its sum) as shown under `identity`.

        Without sums, the total is empty. If a rule leads here, the names of parameters are those of its target, and no
        segment is undecided, because the author of the rule has decided. A single sum that no rule changes is returned
        as it is.
        """
        moved_sums = [_move_to_template(total, key, identity.key) for key, total in sums]
        names = self.find_names(identity)
        if not moved_sums:
            return OperationSum(0, 0)
        if len(moved_sums) == 1 and names is None:
            return moved_sums[0]
        result = _empty_like(moved_sums[0])
        for total in moved_sums:
            result.add(total)
        if names is not None:
            result.names = [Counter({name: result.observations}) for name in names]
            result.undecided = Counter()
        return result


def _move_to_template(total: OperationSum, source: str, target: str) -> OperationSum:
    """Return the sum under another nameless template with the same number of segments, without `undecided`.

    If the target has a parameter in place of a literal, its type is string in all observations, without a name.
    """
    if source == target:
        return total
    names, types = zip(*_map_positions(total, source, target), strict=True) if "{}" in target else ((), ())
    return OperationSum(
        first=total.first,
        last=total.last,
        statuses=total.statuses,
        names=list(names),
        types=list(types),
        evidence=total.evidence,
        media_types=total.media_types,
    )


def _map_positions(total: OperationSum, source: str, target: str) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Yield names and types for each parameter of `target`."""
    reported_parameters = iter(list(zip(total.names, total.types, strict=True)))
    for old_segment, new_segment in zip(source.split("/"), target.split("/"), strict=True):
        old_parameters = [next(reported_parameters) for _ in range(old_segment.count("{}"))]
        parameter_count = new_segment.count("{}")
        literal: tuple[Counter[str], Counter[str]] = Counter(), Counter(string=total.observations)
        yield from old_parameters if len(old_parameters) == parameter_count else [literal] * parameter_count


def _empty_like(total: OperationSum) -> OperationSum:
    """Return an empty sum with as many parameters as `total`. Adding to it does not change `total`."""
    return OperationSum(
        total.first, total.last, names=[Counter() for _ in total.names], types=[Counter() for _ in total.types]
    )
