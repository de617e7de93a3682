"""Fixtures of the SDK's tests. A test that needs a package is skipped if the package is not installed."""

from collections.abc import Iterator

import pytest
from any_machine import pytest_make_parametrize_id as pytest_make_parametrize_id
from support.witness_hub import close_witnesses


@pytest.fixture(autouse=True)
def _witnesses_closed() -> Iterator[None]:
    yield
    close_witnesses()
