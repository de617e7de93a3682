"""Static files that pages need from other packages, served out of their wheels; only the files listed here."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

# By the folder under which they are served: (package, folder in it, files).
VENDORED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "django_htmx": ("django_htmx", "static/django_htmx", ("htmx-2.min.js",)),
    "allauth_mfa": ("allauth", "mfa/static/mfa/js", ("webauthn-json.js",)),
}


class VendoredStorage(FileSystemStorage):
    """A folder of a package; collectstatic puts its files under `prefix`."""

    def __init__(self, prefix: str, package: str, folder: str) -> None:
        super().__init__(location=find_package(package) / folder)
        self.prefix = prefix


class VendoredFinder(BaseFinder):
    """Finds exactly the files of VENDORED."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        self.storages = {
            prefix: VendoredStorage(prefix, package, folder) for prefix, (package, folder, _) in VENDORED.items()
        }

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        prefix, _, name = path.partition("/")
        if prefix not in VENDORED or name not in VENDORED[prefix][2]:
            return []
        path = self.storages[prefix].path(name)
        return [path] if find_all else path

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, VendoredStorage]]:
        for prefix, (_, _, names) in VENDORED.items():
            for name in names:
                yield name, self.storages[prefix]


def find_package(name: str) -> Path:
    """Return a package's folder without importing it, which would cost every process memory and start-up time."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{name} is not installed", name=name)
    return Path(spec.submodule_search_locations[0])
