"""plotly.js as it stands in plotly's wheel, served as one static file of ours."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.files.storage import FileSystemStorage

NAME = "plotly/plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds that one file; the wheel's other data stay where they are."""

    def __init__(self, app_names: object = None, *args: object, **kwargs: object) -> None:
        # find_spec does not import the package: that would cost every process memory and start-up time.
        (package,) = importlib.util.find_spec("plotly").submodule_search_locations
        self.storage = FileSystemStorage(location=Path(package) / "package_data")
        self.storage.prefix = "plotly"

    def find(self, path: str, find_all: bool = False) -> str | list[str]:
        found = self.storage.path("plotly.min.js") if path == NAME else []
        return [found] if find_all and found else found

    def list(self, ignore_patterns: object) -> Iterator[tuple[str, StaticFilesStorage]]:
        yield "plotly.min.js", self.storage
