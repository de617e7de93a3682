"""Files of other packages that pages need, served as they stand in their wheels; nothing else of those wheels is."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

# Served under its key's folder: (package, folder in it, files).
VENDORED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "plotly": ("plotly", "package_data", ("plotly.min.js",)),
    "django_htmx": ("django_htmx", "static/django_htmx", ("htmx-2.min.js",)),
    "swagger": (
        "drf_spectacular_sidecar",
        "static/drf_spectacular_sidecar/swagger-ui-dist",
        ("swagger-ui-bundle.js", "swagger-ui.css"),
    ),
}


class VendoredFinder(BaseFinder):
    """Finds exactly the files of VENDORED."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        self.storages = {prefix: storage(prefix, package, folder) for prefix, (package, folder, _) in VENDORED.items()}

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        prefix, _, name = path.partition("/")
        if prefix not in VENDORED or name not in VENDORED[prefix][2]:
            return []
        found = self.storages[prefix].path(name)
        return [found] if find_all else found

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        for prefix, (_, _, names) in VENDORED.items():
            for name in names:
                yield name, self.storages[prefix]


def storage(prefix: str, package: str, folder: str) -> FileSystemStorage:
    """find_spec does not import the package: plotly's would cost every process memory and start-up time."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    found = FileSystemStorage(location=Path(spec.submodule_search_locations[0]) / folder)
    found.prefix = prefix
    return found
