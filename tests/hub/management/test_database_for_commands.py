"""Commands that only show their help need no database."""

from __future__ import annotations

import pytest

from hub.management.database_for_commands import needs_database


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["prune", "--help"], ["prune", "-h"], ["restore", "-h"]])
def test_help_needs_no_database(arguments):
    assert not needs_database(arguments)
