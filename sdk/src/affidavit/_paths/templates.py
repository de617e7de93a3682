"""Path templates by token form: segments that are data become parameters (contract 4).

`/orders/17` -> `/orders/{orderId}`. Raw paths never leave the process; only the template does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from urllib.parse import unquote

from affidavit._shapes.data_like import detect_form, is_data

from .words import singularize

_PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_SCAFFOLD = re.compile(r"v[0-9]+(?:(?:alpha|beta|rc)[0-9]*)?|api|", re.IGNORECASE)
_VERSION = re.compile(r"[vV]?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}")
_BARE_VERSION = re.compile(r"[1-9]|20[0-9]{2}-[0-9]{2}-[0-9]{2}")
_LATIN_WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class Template:
    """A path with `{name}` in place of data. parameters: the type of each by name, in their order.

    undecided: which segments, counted from 0, are shown as they stand but may be data.
    """

    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    undecided: tuple[int, ...] = ()


def template(path: str) -> Template:
    """The template of a raw path. A query or fragment, if any came along, is left out."""
    return retemplate(path, {})


def retemplate(path: str, parameters: Mapping[str, str]) -> Template:
    """The template of a path that may be one already: raw segments become parameters, those that it has already stay.

    parameters: types by name, as the reporter told them. A name that is data itself, or that stands twice, is
    replaced.
    """
    segments = re.split(r"[?#]", path, maxsplit=1)[0].split("/")
    path_names = set(_PARAMETER.findall(path))
    types: dict[str, str] = {}
    leading = True
    for index, segment in enumerate(segments):
        names = _PARAMETER.findall(segment)
        version = index == 1 < len(segments) - 1 and may_be_version(segment)
        stays = version or _may_stay(segment, names, types, leading=leading)
        leading = leading and (version or is_scaffold(segment))
        if stays:
            types.update((name, parameters.get(name, "string")) for name in names)
        else:
            name = _make_unique(_name_parameter(segments[:index]), path_names | types.keys())
            types[name] = parameters.get(names[0], "string") if names else infer_parameter_type(unquote(segment))
            segments[index] = f"{{{name}}}"
    return Template("/".join(segments), types)


def place_parameters(path: str, parameters: Collection[int], undecided: Iterable[int] = ()) -> Template:
    """The template of a raw path of which it is known where its parameters stand, counted from 0."""
    head, *segments = path.replace("{", "%7B").replace("}", "%7D").split("/")
    types: dict[str, str] = {}
    for index in sorted(parameters):
        name = _make_unique(_name_parameter(segments[:index]), types.keys())
        types[name] = infer_parameter_type(unquote(segments[index]))
        segments[index] = f"{{{name}}}"
    return Template("/".join([head, *segments]), types, tuple(undecided))


def is_scaffold(segment: str, *, leading: bool = True) -> bool:
    """Whether a segment says only which API this is: `api`, `v2`. leading: none but such stand before it.

    Further on `1.29` is what somebody asks for; at the beginning it is the version of the API.
    """
    return bool(_SCAFFOLD.fullmatch(segment) or (leading and _VERSION.fullmatch(segment)))


def may_be_version(segment: str) -> bool:
    """Whether a segment may be the version of an API where it is the first of several: `1`, `2010-04-01`."""
    return bool(_BARE_VERSION.fullmatch(segment))


def _may_stay(segment: str, names: list[str], names_in_use: Mapping[str, str], *, leading: bool) -> bool:
    """Whether a segment may be shown as it is. names: its parameters, as in `{name}` or `{name}.json`."""
    literal = _PARAMETER.sub("", segment)
    if "{" in literal or "}" in literal or _is_raw(unquote(literal), leading=leading):
        return False
    return len({*names, *names_in_use}) == len(names) + len(names_in_use) and not any(map(is_data, names))


def _is_raw(segment: str, *, leading: bool) -> bool:
    """Whether a literal segment, decoded, is data."""
    return not is_scaffold(segment, leading=leading) and detect_form(segment) is not None


def infer_parameter_type(segment: str) -> str:
    return "integer" if _INTEGER.fullmatch(segment) else "string"


def _name_parameter(before: Sequence[str]) -> str:
    """A name from the last word before: `orders` -> `orderId`, `user_groups` -> `userGroupId`."""
    for segment in reversed(before):
        words = _LATIN_WORD.findall(unquote(segment))
        if words and not (_PARAMETER.fullmatch(segment) or is_scaffold(segment) or may_be_version(segment)):
            words[-1] = singularize(words[-1])
            name = "".join(word[0].upper() + word[1:] for word in words)
            return (name[0].lower() if name[0].isalpha() else f"_{name[0]}") + name[1:] + "Id"
    return "id"


def _make_unique(name: str, names_in_use: Set[str]) -> str:
    candidate, number = name, 2
    while candidate in names_in_use:
        candidate, number = f"{name}{number}", number + 1
    return candidate
