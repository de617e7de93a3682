"""Writes the committed vectors: `python -m conformance.generate`. The same input gives the same bytes.

What an interpreter made that is not at hand is taken over from the committed files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .cases import accepted, arguments, canonical, malformed, rejected, resigned
from .cases.headers import DEFAULTS

FOLDER = Path(__file__).resolve().parent

Document = dict[str, Any]


def documents() -> Iterator[tuple[str, Document]]:
    """Each file's name and content."""
    yield "intents.json", intents(_committed("intents.json"))
    yield "args.json", {"cases": list(arguments.cases())}
    yield (
        "canonical.json",
        {
            "values": list(canonical.values()),
            "numbers": canonical.numbers(_committed("canonical.json").get("numbers", [])),
        },
    )


def intents(committed: Mapping[str, Any]) -> Document:
    headers = {vector["id"]: vector["request"]["header"] for vector in committed.get("vectors", ())}
    resigned_ = list(resigned.vectors(headers))
    vectors = [*accepted.vectors(), *resigned_, *malformed.vectors(), *rejected.vectors()]
    return {"defaults": DEFAULTS, "vectors": vectors}


def _committed(name: str) -> Document:
    path = FOLDER / name
    return json.loads(path.read_bytes()) if path.exists() else {}


def text_of(document: Document) -> str:
    """One vector to a line, so that a difference shows which one it is."""
    members = []
    for name, value in document.items():
        rows = ",\n".join(f"    {_line(row)}" for row in value) if isinstance(value, list) else None
        members.append(f"  {_line(name)}: " + (_line(value) if rows is None else f"[\n{rows}\n  ]"))
    return "{\n" + ",\n".join(members) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value)


def main() -> None:
    for name, document in documents():
        (FOLDER / name).write_text(text_of(document), encoding="ascii")


if __name__ == "__main__":
    main()
