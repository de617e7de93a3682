"""The facts of one exchange for the learner of path templates: names, shapes, hashes in place of values (contract §4).

The key of the hashes is random and made in this process. Neither the key nor a hash is ever sent.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from sys import intern

from affidavit._data_detection import is_data
from affidavit._json import Absent, Json

from .segment_form import detect_text_form
from .words.property_names import Reading, read_name

MAX_TEXT = 80  # characters; longer texts do not occur in paths
MAX_LEVEL = 6  # deeper properties are not part of a shape
MAX_SHAPE_POINTERS = 300  # properties of one shape
HASH_BYTES = 8
ROOTS = frozenset("><")

_PLACEHOLDER = re.compile(r"/([^/{}\s]+)/(\{[^{}/]+\}|:[A-Za-z_]\w*)")
LEAST_DESCRIBED = 5  # different words before the placeholders of path templates, in the description of an API
LEAST_PLACEHOLDERS = 3  # different placeholders in it


class KeyedHash:
    """Keyed hashes of texts, so that equal texts are recognised without being kept."""

    def __init__(self, key: bytes | None = None) -> None:
        """Use this key of up to 64 bytes, by default a random one."""
        self._keyed = blake2b(key=key or secrets.token_bytes(32), digest_size=HASH_BYTES)

    def digest(self, text: str) -> int:
        """Return the hash of a text, of 64 bits."""
        digest = self._keyed.copy()
        digest.update(text.encode("utf-8", "surrogatepass"))
        return int.from_bytes(digest.digest(), "big")


@dataclass
class ExchangeFacts:
    """The facts in the bodies of one exchange: properties and their values.

    names: the names of properties, without names that are data.
    shape: the pointers of properties.
    scalars: for the hash of each value, the `Reading` of the properties that hold it.
    holders: for the hash of each value, the names of these properties.
    """

    names: set[str] = field(default_factory=set)
    shape: set[str] = field(default_factory=set)
    scalars: dict[int, Reading] = field(default_factory=dict)
    holders: dict[int, set[str]] = field(default_factory=dict)


def read_bodies(hashes: KeyedHash, *bodies: Json | Absent) -> ExchangeFacts:
    """Return the facts of the bodies of one exchange; the request comes first.

    The values of a body that describes an API are left out: they are words of its paths.
    """
    facts = ExchangeFacts()
    for mark, body in zip("><", bodies, strict=False):
        if not isinstance(body, Absent):
            texts = dict[str, set[str]]()
            _read_value(facts, texts, body, "", mark, 1)
            if not _describes_api(body, texts.values()):
                for name, values in texts.items():
                    for text in values:
                        _add_text(facts, hashes.digest(text), text, name)
    return facts


def _describes_api(body: Json, texts: Iterable[Set[str]]) -> bool:
    """Return whether a body is an OpenAPI document, or has the path templates of several operations.

    A list of resources may have one template for each, such as `/buckets/lunar/{key}`: with the same placeholder.
    """
    if isinstance(body, dict) and "paths" in body and ("openapi" in body or "swagger" in body):
        return True
    pairs = {
        match.groups() for values in texts for text in values if text[0] == "/" and (match := _PLACEHOLDER.search(text))
    }
    words, placeholders = {word for word, _ in pairs}, {placeholder for _, placeholder in pairs}
    return len(words) >= LEAST_DESCRIBED and len(placeholders) >= LEAST_PLACEHOLDERS


def bound_shape(shape: Set[str]) -> frozenset[str]:
    """Cut a shape that is too large: keep its first pointers in alphabetical order. Equal pointers are one object."""
    return frozenset(map(intern, shape if len(shape) <= MAX_SHAPE_POINTERS else sorted(shape)[:MAX_SHAPE_POINTERS]))


def _read_value(
    into: ExchangeFacts, texts: dict[str, set[str]], value: Json, name: str, pointer: str, level: int
) -> None:
    """Add the facts of a value.

    texts: the short texts that were read, by the name of the property that holds them.
    name: the property that holds the value.
    pointer: its position, such as `>.order.items[]`.
    """
    if isinstance(value, str):
        if 0 < len(value) <= MAX_TEXT:
            texts.setdefault(name, set()).add(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            is_name = not is_data(key)
            member_pointer = f"{pointer}.{key if is_name else '*'}"
            if is_name:
                into.names.add(key)
            if level <= MAX_LEVEL:
                into.shape.add(member_pointer)
            _read_value(into, texts, member, key if is_name else name, member_pointer, level + 1)
    elif isinstance(value, list):
        if pointer in ROOTS:
            into.shape.add(pointer)
        item_pointer = f"{pointer}[]"
        for item in value:
            _read_value(into, texts, item, name, item_pointer, level)


def _add_text(into: ExchangeFacts, value_hash: int, text: str, name: str) -> None:
    earlier = into.scalars.get(value_hash)
    if earlier is None and detect_text_form(text) is not None:
        return  # a segment that is data by its form needs no other sign
    into.scalars[value_hash] = read_name(name) if earlier is None else earlier | read_name(name)
    into.holders.setdefault(value_hash, set()).add(name)
