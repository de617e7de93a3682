"""Pages load the same version of plotly.js as the package that checks their figures in tests."""

from __future__ import annotations

import re
from pathlib import Path

from plotly.offline import get_plotlyjs_version

PLOTLY = Path(__file__).resolve().parents[2] / "static" / "plotly"


def test_the_script_has_the_version_that_checks_the_figures_in_tests():
    header = (PLOTLY / "plotly-basic.min.js").read_text()[:200]
    match = re.search(r"plotly\.js \(basic - minified\) v([\d.]+)", header)
    assert match
    assert match[1] == get_plotlyjs_version(), f"make plotly version={get_plotlyjs_version()}"


def test_the_licence_of_plotly_is_in_its_folder():
    assert (PLOTLY / "LICENSE").read_text().startswith("MIT License")
