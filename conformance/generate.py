"""Write the committed vectors: `python -m conformance.generate`. The same cases give the same bytes.

Programs in several languages write some of the vectors. If the interpreter of one is not installed, its vectors are
copied from the committed files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .cases import accepted, arguments, canonical, malformed, rejected, rewritten
from .cases.build_vectors import DEFAULTS

FOLDER = Path(__file__).resolve().parent

Document = dict[str, Any]


def build_documents() -> Iterator[tuple[str, Document]]:
    """Yield the name and content of each file."""
    yield "intents.json", build_intents(_read_committed("intents.json"))
    yield "args.json", {"cases": list(arguments.cases())}
    yield (
        "canonical.json",
        {
            "values": list(canonical.values()),
            "numbers": canonical.numbers(_read_committed("canonical.json").get("numbers", [])),
        },
    )


def build_intents(committed_document: Mapping[str, Any]) -> Document:
    headers = {vector["id"]: vector["request"]["header"] for vector in committed_document.get("vectors", ())}
    rewritten_vectors = list(rewritten.vectors(headers))
    vectors = [*accepted.vectors(), *rewritten_vectors, *malformed.vectors(), *rejected.vectors()]
    return {"defaults": DEFAULTS, "vectors": vectors}


def _read_committed(name: str) -> Document:
    path = FOLDER / name
    return json.loads(path.read_bytes()) if path.exists() else {}


def format_document(document: Document) -> str:
    """Return the document as JSON with one vector per line, so that a diff shows which one changed."""
    members = []
    for name, value in document.items():
        rows = ",\n".join(f"    {_format_json(row)}" for row in value) if isinstance(value, list) else None
        members.append(f"  {_format_json(name)}: " + (_format_json(value) if rows is None else f"[\n{rows}\n  ]"))
    return "{\n" + ",\n".join(members) + "\n}\n"


def _format_json(value: Any) -> str:
    return json.dumps(value)


def main() -> None:
    for name, document in build_documents():
        (FOLDER / name).write_text(format_document(document), encoding="ascii")


if __name__ == "__main__":
    main()
