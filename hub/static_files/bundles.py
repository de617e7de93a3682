"""The style sheets and scripts that every page loads, each joined into one file from several files of `static/`.

A browser paints only when every style sheet has arrived, and on a slow machine each request costs it some milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

# Parts in the order in which they take effect. A script is one statement, and keeps its names to itself.
BUNDLES: Mapping[str, tuple[str, ...]] = {
    "site.css": tuple(
        f"css/{name}.css" for name in ("tokens", "base", "layout", "controls", "components", "shapes", "print")
    ),
    "before_paint.js": ("js/theme.js", "js/zone.js"),
    "site.js": tuple(
        f"js/{name}.js"
        for name in (
            *("view_state", "sent_forms", "live", "chart", "keyboard", "copy", "menus", "zone_list", "fit_to_window"),
            *("search", "countdown"),
        )
    ),
}


class BundleFinder(BaseFinder):
    """Finds exactly the files of BUNDLES, and writes those again whose parts have changed."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        self.storage = FileSystemStorage(location=settings.BUNDLE_ROOT)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path not in BUNDLES:
            return []
        file = str(write_bundle(path))
        return [file] if find_all else file

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        for name in BUNDLES:
            write_bundle(name)
            yield name, self.storage


def write_bundle(name: str) -> Path:
    """Return the file of a bundle. Replace the file as a whole if the parts of the bundle have changed."""
    folder = Path(settings.BUNDLE_ROOT)
    file = folder / name
    content = b"".join((settings.BASE_DIR / "static" / part).read_bytes() for part in BUNDLES[name])
    if not file.exists() or file.read_bytes() != content:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, delete=False) as new:
            new.write(content)
        os.chmod(new.name, 0o644)
        os.replace(new.name, file)
    return file
