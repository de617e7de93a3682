"""docs/architecture.md names every room and only modules that exist, and is short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/architecture.md", *sorted((ROOT / "docs/decisions").glob("*.md"))]
MODULE = re.compile(r"`((?:affidavit|alerts|catalog|hub|intents|outcomes|wire|workspaces)(?:\.\w+)+)`")
MAX_LINES = 120


def module_exists(name: str) -> bool:
    """Return whether the dotted name is a module or a folder of the tree, or a name defined in such a module."""
    path = name.replace(".", "/")
    roots = (ROOT / path, ROOT / "sdk/src" / path)
    if any(root.is_dir() or root.with_suffix(".py").is_file() for root in roots):
        return True
    module, _, attribute = name.rpartition(".")
    files = [base / f"{module.replace('.', '/')}.py" for base in (ROOT, ROOT / "sdk/src")]
    return any(re.search(rf"\b{attribute}\b", file.read_text()) for file in files if file.is_file())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page):
    missing = [name for name in MODULE.findall(page.read_text()) if not module_exists(name)]
    assert missing == []


def test_the_architecture_names_every_room():
    text = PAGES[0].read_text()
    rooms = {path.parent.name for path in ROOT.glob("*/*/__init__.py")} - {"migrations", "templatetags", "management"}
    rooms -= {path.parent.name for path in [*ROOT.glob("tests/*/__init__.py"), *ROOT.glob("conformance/*/__init__.py")]}
    rooms -= {path.parent.name for part in ("examples", "bench") for path in ROOT.glob(f"{part}/*/__init__.py")}
    assert sorted(room for room in rooms if not re.search(rf"\b{room}\b", text)) == []


def test_the_architecture_is_short():
    assert len(PAGES[0].read_text().splitlines()) <= MAX_LINES
