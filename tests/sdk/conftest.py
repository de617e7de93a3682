"""What every test of the SDK leaves behind is ended."""

from collections.abc import Iterator

import pytest
from witness_hub import close_all


@pytest.fixture(autouse=True)
def _witnesses_closed() -> Iterator[None]:
    yield
    close_all()
