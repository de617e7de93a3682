"""Every page loads one style sheet and few scripts. They are made from the files of `static/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from hub.static_files.bundles import BUNDLES, BundleFinder, write_bundle

STATIC = Path(__file__).parents[3] / "static"


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.BUNDLE_ROOT = tmp_path / "static.bundles"
    return settings.BUNDLE_ROOT


def test_every_style_sheet_is_in_the_one_that_pages_load():
    assert sorted(BUNDLES["site.css"]) == sorted(f"css/{path.name}" for path in STATIC.glob("css/*.css"))


def test_a_bundle_holds_its_parts_in_their_order(folder):
    for name, parts in BUNDLES.items():
        assert write_bundle(name).read_text() == "".join((STATIC / part).read_text() for part in parts)


@pytest.mark.parametrize("part", [part for parts in BUNDLES.values() for part in parts if part.endswith(".js")])
def test_a_script_can_stand_before_any_other(part):
    """Each script is one call of one function, so it shares no names, and no missing semicolon joins two scripts."""
    lines = [line for line in (STATIC / part).read_text().splitlines() if line and not line.startswith("//")]
    assert (lines[0], lines[-1]) == ("(() => {", "})();")


def test_an_unchanged_bundle_is_not_written_again(folder):
    file = write_bundle("site.css")
    before = file.stat()
    write_bundle("site.css")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_bundle_is_written_again_when_a_part_has_changed(folder):
    file = write_bundle("site.css")
    file.write_text("of an earlier version")
    assert Path(BundleFinder().find("site.css")).read_text().startswith((STATIC / "css/tokens.css").read_text())
    assert [path.name for path in folder.iterdir()] == ["site.css"]


def test_the_finder_of_bundles_finds_no_other_file(folder):
    assert BundleFinder().find("../settings.py") == []
    assert finders.find("site.css")
    assert not finders.find("sites.css")
