"""Path templates by the form of each segment: a segment that looks like data is a parameter (contract §4).

`/orders/17` -> `/orders/{orderId}`. Raw paths never leave the process; only the template does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from affidavit._data_detection import is_data

from .embedded_values import replace_values, strip_values
from .parameter_names import PARAMETER, ParameterNamer
from .segment_form import detect_segment_form
from .versions import is_scaffold, is_version

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")


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
    namer = ParameterNamer(PARAMETER.findall(path))
    types: dict[str, str] = {}
    leading = True
    for index, segment in enumerate(segments):
        names = PARAMETER.findall(segment)
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
    namer = ParameterNamer()
    types: dict[str, str] = {}
    for index, segment in enumerate(segments):
        if index in positions:
            name = namer.name_parameter()
            types[name] = infer_parameter_type(unquote(segment))
            segments[index] = f"{{{name}}}"
        else:
            segments[index] = _place_literal(segment, namer, types)
    return Template("/".join([head, *segments]), types, tuple(undecided_indexes))


def _place_literal(segment: str, namer: ParameterNamer, types: dict[str, str]) -> str:
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


def _may_stay(segment: str, names: list[str], types: Mapping[str, str], *, leading: bool) -> bool:
    """Return whether a segment may stay as it is.

    names: its parameters, as in `{name}` or `{name}.json`.
    types: the types of the parameters before the segment.
    """
    literal = PARAMETER.sub("", segment)
    if "{" in literal or "}" in literal or _is_raw(unquote(literal), leading=leading):
        return False
    is_new = len(set(names)) == len(names) and types.keys().isdisjoint(names)
    return is_new and not any(map(is_data, names))


def _is_raw(segment: str, *, leading: bool) -> bool:
    """Return whether a decoded literal segment is data."""
    return not is_scaffold(segment, leading=leading) and detect_segment_form(segment) is not None


def infer_parameter_type(segment: str) -> str:
    return "integer" if _INTEGER.fullmatch(segment) else "string"
