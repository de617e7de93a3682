"""Name the schemas in `components/schemas` (pure): a body after its operation, a nested schema after its parent.

A name says where its schema was observed. Other operations change it only if they have the same schema, or would give
the same name to another schema. Their order never changes it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from http import HTTPStatus

from affidavit.operations import singularize, split_words
from catalog.downloads.operation_summaries import parse_resources

MAX_SCHEMA_NAME_LENGTH = 80  # without the digest that makes a name unique
MIN_DIGEST_LENGTH = 8
PASCAL_WORD = re.compile(r"[A-Z][a-z0-9]*|[a-z0-9]+")
ERROR = "Error"  # the body of most error responses
# Names of the requested list in the body of a GET, besides the name of the resource
PAGE_LISTS = frozenset({("data",), ("items",), ("results",)})


class Position(StrEnum):
    """The position of an object in a body or in a property."""

    OBJECT = "Object"  # it is the body or the property itself
    ITEM = "Item"  # in an array
    VALUE = "Value"  # under keys that are data


@dataclass(frozen=True)
class Body:
    """A request or response body.

    part: `request` or a status.
    operation_id: unique among operations.
    """

    operation_id: str
    method: str
    path: str
    part: str

    @property
    def is_error(self) -> bool:
        return self.part != "request" and int(self.part) >= 400

    @property
    def is_read(self) -> bool:
        """Return whether the body is the resource as a GET returns it."""
        return self.method == "GET" and self.part.startswith("2")

    def is_page_list(self, property_name: str) -> bool:
        """Return whether an array under this name is the requested list: `orders` or `data` of `GET /orders`."""
        resources = parse_resources(self.path)
        if not self.is_read or not resources or resources[-1].is_one:
            return False
        words = tuple(split_words(property_name))
        return words in PAGE_LISTS or words == resources[-1].words[-len(words) :]


@dataclass(frozen=True)
class BodyUse:
    """One body in which a schema is used.

    is_page: whether the schema is an object that contains the requested list.
    """

    body: Body
    position: Position = Position.OBJECT
    is_page: bool = False

    @property
    def rank(self) -> tuple[object, ...]:
        """Return the sort key of a use: the first use of a schema gives its name."""
        body = self.body
        return self._count_preference(), body.path.count("/"), body.path, body.method, body.part, self.position

    @property
    def location(self) -> str:
        return f"{self.body.method} {self.body.path} {self.body.part} {self.position}"

    def propose_names(self) -> Iterator[str]:
        """Yield names for a schema, the best first.

        `Order`, `OrdersPage`, `OrdersItem` and `OrderPatchRequest` are the best names of four different schemas.
        """
        body, suffix = self.body, "" if self.position is Position.OBJECT else self.position.value
        phrase = "Request" if body.part == "request" else name_status(body.part)
        if body.is_error:
            yield f"{phrase}Error{suffix}"
            yield f"{self._name_resource()}{phrase}{suffix}"
        elif body.is_read:
            yield f"{self._name_resource()}{'Page' if self.is_page else ''}{suffix}"
        else:
            method = "" if body.method == "POST" else pascal_case(split_words(body.method))
            kind = "Request" if body.part == "request" else "Response"
            yield f"{self._name_resource()}{method}{kind}{suffix}"
        yield f"{pascal_case(split_words(body.operation_id))}{phrase}{suffix}"

    def _count_preference(self) -> int:
        """Return how well a use names the schema; 0 is the best, for a body that reads one resource."""
        body = self.body
        if not body.is_read:
            return 5 if body.is_error else 4 if body.part == "request" else 3
        if self.position is not Position.OBJECT:
            return 2
        resources = parse_resources(body.path)
        return 0 if resources and resources[-1].is_one else 1

    def _name_resource(self) -> str:
        """Return `OrderLines` for what a GET of `/orders/{orderId}/lines` reads; `OrderLine` for other bodies there."""
        resources = parse_resources(self.body.path)
        words = [word for resource in resources for word in resource.own_words]
        if resources and not self.body.is_read:
            words[-1] = resources[-1].singular[-1]
        name = pascal_case(words) or "Root"
        return f"Schema{name}" if name[0].isdigit() else name


@dataclass(frozen=True)
class NestedUse:
    """One property in which a schema is used.

    parent: the name of the schema that has the property.
    """

    parent: str
    property_name: str
    position: Position

    @property
    def rank(self) -> tuple[object, ...]:
        return len(self.parent), self.parent, self.property_name, self.position

    @property
    def location(self) -> str:
        return f"{self.parent} {self.property_name} {self.position}"

    def propose_names(self) -> Iterator[str]:
        """Yield names for a schema, the best first: `OrderLine` for the items in `lines` of an `Order`.

        Code generators name a map after its property, so no schema inside the map may have that name.
        """
        plain, singular = name_property(self.property_name)
        if plain and self.position is not Position.VALUE:
            yield f"{self.parent}{singular if self.position is Position.ITEM else plain}"
        yield f"{self.parent}{plain}{self.position.value}"


Use = BodyUse | NestedUse


def assign_names(uses: Mapping[int, Use], taken_names: Collection[str]) -> dict[int, str]:
    """Return a name for each schema, made from its use in `uses`.

    If several schemas want the same name, none gets it. Each takes its next proposal, and finally a name with a digest
    of its use.

    taken_names: the names of other schemas, in lower case.
    """
    names: dict[int, str] = {}
    used_names = set(taken_names)
    proposals = {number: use.propose_names() for number, use in uses.items()}
    last_wishes: dict[int, str] = {}
    while wishes := propose_next(proposals):
        last_wishes |= wishes
        rivals = Counter(name.lower() for name in wishes.values())
        winners = {
            number: name
            for number, name in wishes.items()
            if rivals[name.lower()] == 1 and name.lower() not in used_names
        }
        names |= winners
        used_names.update(name.lower() for name in winners.values())
        proposals = {number: proposals[number] for number in wishes.keys() - winners.keys()}
    for number in sorted(uses.keys() - names.keys(), key=lambda number: uses[number].location):
        names[number] = make_unique(last_wishes[number], uses[number].location, used_names)
        used_names.add(names[number].lower())
    return names


def propose_next(proposals: Mapping[int, Iterator[str]]) -> dict[int, str]:
    """Return the next name that each schema proposes, if it has one left."""
    next_names = {number: next(names, "") for number, names in proposals.items()}
    return {number: shorten(name) for number, name in next_names.items() if name}


def make_unique(name: str, text: str, used_names: Collection[str]) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    lengths = range(MIN_DIGEST_LENGTH, len(digest) + 1)
    return next(longer for length in lengths if (longer := f"{name}{digest[:length]}").lower() not in used_names)


def choose_common_error(uses: Mapping[int, Sequence[BodyUse]]) -> int | None:
    """Return the most frequent schema of error responses among the schemas that are used mostly for errors."""
    errors = {number: sum(use.body.is_error for use in body_uses) for number, body_uses in uses.items()}
    candidates = [number for number, count in errors.items() if 2 * count > len(uses[number])]
    return min(candidates, key=lambda number: (-errors[number], min(use.rank for use in uses[number])), default=None)


@lru_cache(maxsize=4096)
def name_property(property_name: str) -> tuple[str, str]:
    """Return `LineItems` and `LineItem` for `line_items`."""
    words = split_words(property_name)
    return pascal_case(words), pascal_case([*words[:-1], *map(singularize, words[-1:])])


def pascal_case(words: Iterable[str]) -> str:
    """Return `OrderLine` for `order`, `line`, with ASCII letters and digits alone, which every generator takes."""
    return "".join(word.capitalize() for word in words if word.isascii())


def name_status(status: str) -> str:
    """Return the phrase of a status as a name: `NotFound`."""
    try:
        return pascal_case(re.findall("[A-Za-z]+", HTTPStatus(int(status)).phrase))
    except ValueError:
        return f"Status{status}"


def shorten(name: str) -> str:
    """Leave out words in the middle of a name that is too long."""
    if len(name) <= MAX_SCHEMA_NAME_LENGTH:
        return name
    words = PASCAL_WORD.findall(name)
    while sum(map(len, words)) > MAX_SCHEMA_NAME_LENGTH and len(words) > 2:
        del words[len(words) // 2]
    return "".join(words)[:MAX_SCHEMA_NAME_LENGTH]
