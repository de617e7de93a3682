"""Path templates by the form of each segment: a segment that looks like data is a parameter (contract §4).

`/orders/17` -> `/orders/{orderId}`. Raw paths never leave the process; only the template does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from affidavit._data_forms import is_data

from .segment_form import detect_segment_form
from .segment_values import replace_values, strip_values
from .versions import is_scaffold, is_version, is_written_as_version
from .words.singulars import singularize

_PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_LATIN_WORD = re.compile(r"[A-Za-z0-9]+")

MAX_NAME = 80  # characters of a parameter's name before `Id`


@dataclass(frozen=True)
class Template:
    """A path with `{name}` in place of data.

    parameters: the type of each parameter by its name, in the order of the path.
    undecided: the indexes, from 0, of segments that are kept but may be data.
    """

    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    undecided: tuple[int, ...] = ()


def template(path: str) -> Template:
    """Return the template of a raw path, without its query or fragment."""
    return retemplate(path, {})


def retemplate(path: str, parameters: Mapping[str, str]) -> Template:
    """Return the template of a path that may be one already: raw segments become parameters, parameters stay.

    parameters: types by name, as the reporter sent them.

    A parameter name that is data itself, or that occurs twice, is replaced. The time is linear in the length of any
    path.
    """
    segments = re.split(r"[?#]", path, maxsplit=1)[0].split("/")
    namer = _Namer(_PARAMETER.findall(path))
    types: dict[str, str] = {}
    leading = True
    for index, segment in enumerate(segments):
        names = _PARAMETER.findall(segment)
        has_version = 0 < index < len(segments) - 1 and is_version(segment, segments[1:index])
        stays = has_version or _may_stay(segment, names, types, leading=leading)
        leading = leading and (has_version or is_scaffold(segment))
        if stays:
            types.update((name, parameters.get(name, "string")) for name in names)
            segments[index] = _place_literal(segment, namer, types)
        else:
            name = namer.name_parameter()
            types[name] = parameters.get(names[0], "string") if names else infer_parameter_type(unquote(segment))
            segments[index] = f"{{{name}}}"
    return Template("/".join(segments), types)


def place_parameters(path: str, parameters: Collection[int], undecided_indexes: Iterable[int] = ()) -> Template:
    """Return the template of a raw path whose parameters are known by their positions, counted from 0."""
    head, *segments = path.replace("{", "%7B").replace("}", "%7D").split("/")
    positions = frozenset(parameters)
    namer = _Namer()
    types: dict[str, str] = {}
    for index, segment in enumerate(segments):
        if index in positions:
            name = namer.name_parameter()
            types[name] = infer_parameter_type(unquote(segment))
            segments[index] = f"{{{name}}}"
        else:
            segments[index] = _place_literal(segment, namer, types)
    return Template("/".join([head, *segments]), types, tuple(undecided_indexes))


def _place_literal(segment: str, namer: _Namer, types: dict[str, str]) -> str:
    """Return a literal segment with parameters in place of the values inside it: `Customers('{customerId}')`."""
    namer.pass_literal(strip_values(segment))

    def place_value(name: str, value: str) -> str:
        if "{" in value:
            return value
        namer.pass_literal(name)
        parameter = namer.name_parameter()
        types[parameter] = infer_parameter_type(unquote(value))
        return f"{{{parameter}}}"

    return replace_values(segment, place_value)


class _Namer:
    """Names parameters after the last word before them, in one pass from left to right; no name twice."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Begin with the parameter names that the path has already."""
        self._names = set(names)
        self._numbers: dict[str, int] = {}
        self._base = "id"

    def pass_literal(self, segment: str) -> None:
        """Name the next parameters after this literal segment, if a name can be made from it."""
        self._base = _name_after(segment) or self._base

    def name_parameter(self) -> str:
        """Return a new name: `orderId` after `orders`; `orderId2` if that is in use."""
        name, number = self._base, self._numbers.get(self._base, 2)
        while name in self._names:
            name, number = f"{self._base}{number}", number + 1
        self._numbers[self._base] = number
        self._names.add(name)
        return name


def _may_stay(segment: str, names: list[str], types: Mapping[str, str], *, leading: bool) -> bool:
    """Return whether a segment may stay as it is.

    names: its parameters, as in `{name}` or `{name}.json`.
    types: the types of the parameters before the segment.
    """
    literal = _PARAMETER.sub("", segment)
    if "{" in literal or "}" in literal or _is_raw(unquote(literal), leading=leading):
        return False
    is_new = len(set(names)) == len(names) and types.keys().isdisjoint(names)
    return is_new and not any(map(is_data, names))


def _is_raw(segment: str, *, leading: bool) -> bool:
    """Return whether a decoded literal segment is data."""
    return not is_scaffold(segment, leading=leading) and detect_segment_form(segment) is not None


def infer_parameter_type(segment: str) -> str:
    return "integer" if _INTEGER.fullmatch(segment) else "string"


def _name_after(segment: str) -> str | None:
    """Name a parameter after a segment: `user_groups` -> `userGroupId`; None if the segment names nothing."""
    words = _LATIN_WORD.findall(unquote(segment))
    if not words or _PARAMETER.fullmatch(segment) or is_scaffold(segment) or is_written_as_version(segment):
        return None
    words = list(map(_lower_capitals, words))
    words[-1] = _lower_capitals(singularize(words[-1]))
    name = "".join(word[0].upper() + word[1:] for word in words)[:MAX_NAME]
    return (name[0].lower() if name[0].isalpha() else f"_{name[0]}") + name[1:] + "Id"


def _lower_capitals(word: str) -> str:
    """Return a word in capitals in small letters: `COMPANY` -> `company`; any other as it is."""
    return word.lower() if word.isupper() else word
