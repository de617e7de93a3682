"""The colours of a chart's series: a name has the same colour on every chart, whatever its rank (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

PALETTE = tuple(f"var(--series-{number})" for number in range(1, 8))
COLOUR_OF_REST = "var(--series-8)"  # grey, of the series that sums all others; an eighth name gets it, too
MAX_SERIES = len((*PALETTE, COLOUR_OF_REST))  # on a chart on which each has a colour of its own

PARTIAL_OPACITY = 0.55  # the bar of a bucket that is not whole is pale

SALT = "205"  # with it, the most usual reasons of rejections prefer different colours


def choose_colours(names: Collection[str]) -> Mapping[str, str]:
    """Return the colour of each name: all differ, for up to seven names; an eighth is grey, further ones repeat.

    A name prefers the colours in an order that depends only on its text. It has the first colour of this order. If
    several names of a chart have the same first colour, the one with the smallest hash keeps it. Each of the others
    gets the first colour of its order that no name has. So ranks never change the colour of a name, and other names
    change it only if one of them has the same first colour.
    """
    by_hash = sorted(set(names), key=_hash_name)
    colours: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in by_hash:
        if owners.setdefault(_order_colours(name)[0], name) == name:
            colours[name] = _order_colours(name)[0]
    for name in by_hash:
        if name not in colours:
            free = [colour for colour in (*_order_colours(name), COLOUR_OF_REST) if colour not in owners]
            colours[name] = free[0] if free else _order_colours(name)[0]
            owners.setdefault(colours[name], name)
    return colours


def _hash_name(name: str, colour: str = "") -> bytes:
    return sha256(f"{SALT}{colour} {name}".encode("utf-8", "surrogatepass")).digest()


@lru_cache(maxsize=1000)
def _order_colours(name: str) -> Sequence[str]:
    """Return all colours in the order in which a name prefers them."""
    return sorted(PALETTE, key=lambda colour: _hash_name(name, colour))
