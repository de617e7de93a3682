"""The limits of path templates are the same in the hub and in the SDK, which sends none beyond them (contract §4)."""

from __future__ import annotations

import pytest

from affidavit._paths import template_limits
from affidavit._paths.routes import build_route_template
from catalog.path_template import MAX_PATH_BYTES, MAX_SEGMENTS, find_path_errors


def test_the_sdk_has_the_limits_of_the_hub():
    assert (template_limits.MAX_BYTES, template_limits.MAX_SEGMENTS) == (MAX_PATH_BYTES, MAX_SEGMENTS)


@pytest.mark.parametrize(
    ("longest", "longer", "code"),
    [
        ("/a" * MAX_SEGMENTS, "/a" * (MAX_SEGMENTS + 1), "segments"),
        (f"/{{{'n' * 100}}}", f"/{{{'n' * 101}}}", "name"),
    ],
    ids=["segments", "name"],
)
def test_the_longest_template_that_the_sdk_sends_is_the_longest_that_the_hub_accepts(longest, longer, code):
    assert build_route_template(longest) is not None
    assert find_path_errors(longest) == []
    assert build_route_template(longer) is None
    assert find_path_errors(longer) == [code]
