"""Under which template an operation is shown, by the rules by hand that stand (pure).

Evidence stays under the template as reported; a rule acts on what is shown only, so that taking it back shows what
would have been shown without it (contract 4).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from affidavit.operations import PARAMETER, Identity, OperationSum, strip_names

EVERY = ""  # as the method of a rule: all


@dataclass(frozen=True)
class Rule:
    """Show what is reported under `source`, a nameless template, under `target`, a template with names.

    number: a later rule has a higher one. matching: whatever else matches the target is shown there as well.
    """

    number: int
    method: str
    source: str
    target: str
    matching: bool = False

    @cached_property
    def key(self) -> str:
        return strip_names(self.target)

    @cached_property
    def names(self) -> list[str]:
        return PARAMETER.findall(self.target)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile("[^/]+".join(map(re.escape, self.key.split("{}"))))

    def is_for(self, method: str) -> bool:
        return self.method in (EVERY, method)

    def matches(self, identity: Identity) -> bool:
        fits = self.matching and self.is_for(identity.method) and identity.key != self.key
        return fits and bool(self.pattern.fullmatch(identity.key))


class Rules:
    """The rules that stand in one environment.

    An operation follows the rule that names its template, for its method rather than for all; else, of those that it
    merely matches, the one with the fewest parameters, and of such the oldest.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.standing = sorted(rules, key=lambda rule: rule.number)
        self._by_source = {(rule.method, rule.source): rule for rule in self.standing}
        matching = [rule for rule in self.standing if rule.matching]
        self._matching = sorted(matching, key=lambda rule: len(rule.names))

    @property
    def newest(self) -> int:
        """The number of the newest rule; 0 without any."""
        return self.standing[-1].number if self.standing else 0

    def rule_of(self, identity: Identity) -> Rule | None:
        for method in (identity.method, EVERY):
            if rule := self._by_source.get((method, identity.key)):
                return rule
        return next((rule for rule in self._matching if rule.matches(identity)), None)

    def way(self, identity: Identity) -> list[Rule]:
        """The rules that lead from an operation to where it is shown, in their order; raises Circle."""
        rules: list[Rule] = []
        seen = {identity.key}
        here = identity
        while (rule := self.rule_of(here)) and rule.key != here.key:
            if rule.key in seen:
                raise Circle
            rules.append(rule)
            seen.add(rule.key)
            here = Identity(identity.method, rule.key)
        return rules

    def place(self, identity: Identity) -> Identity:
        """Under which operation it is shown; itself, where no rule says otherwise."""
        way = self.way(identity)
        return Identity(identity.method, way[-1].key) if way else identity

    def reachable(self, identity: Identity) -> set[Identity]:
        """Where it could be shown if some of these rules were taken back; itself among them."""
        found = {identity}
        new = [identity]
        while new:
            here = new.pop()
            rules = [rule for rule in self.standing if rule.source == here.key or rule.matches(here)]
            there = {Identity(identity.method, rule.key) for rule in rules if rule.is_for(identity.method)} - found
            found |= there
            new += there
        return found

    def names(self, identity: Identity) -> Sequence[str] | None:
        """The names of its parameters by the newest rule that leads to it; None where none does."""
        leading = (rule for rule in reversed(self.standing) if rule.key == identity.key)
        return next((rule.names for rule in leading if rule.is_for(identity.method)), None)

    def speak_of(self, identity: Identity) -> bool:
        """Whether a rule leads from this operation or to it."""
        return bool(self.rule_of(identity)) or self.names(identity) is not None

    @property
    def has_circle(self) -> bool:
        """Whether some operation would be shown nowhere."""
        keys = {key for rule in self.standing for key in (rule.source, rule.key)}
        methods = {EVERY, *(rule.method for rule in self.standing)}
        try:
            for method in methods:
                for key in keys:
                    self.way(Identity(method, key))
        except Circle:
            return True
        return False


class Circle(ValueError):
    """The rules lead from a template back to it."""


def laid_out(summed: OperationSum, source: str, target: str) -> OperationSum:
    """The same sum under another nameless template of as many segments.

    Where that has a parameter in place of a literal, the literal was a string in all observations, without a name.
    """
    if source == target:
        return summed
    names, types = zip(*positions(summed, source, target), strict=True) if "{}" in target else ((), ())
    return OperationSum(
        first=summed.first,
        last=summed.last,
        statuses=summed.statuses,
        names=list(names),
        types=list(types),
        evidence=summed.evidence,
    )


def positions(summed: OperationSum, source: str, target: str) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Names and types for each parameter of `target`."""
    reported = iter(list(zip(summed.names, summed.types, strict=True)))
    for old, new in zip(source.split("/"), target.split("/"), strict=True):
        here = [next(reported) for _ in range(old.count("{}"))]
        wanted = new.count("{}")
        yield from here if len(here) == wanted else [literal(summed.observations)] * wanted


def literal(observations: int) -> tuple[Counter[str], Counter[str]]:
    return Counter(), Counter(string=observations)
