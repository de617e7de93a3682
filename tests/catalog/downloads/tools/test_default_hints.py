"""The hints of a tool follow from its method, unless a hint rule sets them."""

import pytest

from catalog.downloads.tools.default_hints import derive_hints

HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("GET", [True, False, True, True]),
        ("HEAD", [True, False, True, True]),
        ("OPTIONS", [True, False, True, True]),
        ("PUT", [False, True, True, True]),
        ("DELETE", [False, True, True, True]),
        ("POST", [False, True, False, True]),
        ("PATCH", [False, True, False, True]),
        ("PURGE", [False, True, False, True]),
    ],
)
def test_all_four_hints_follow_from_the_method(method, hints):
    assert derive_hints(method) == dict(zip(HINTS, hints, strict=True))
