"""What the SDK's tests need. They import no framework and no hub: what needs one is skipped where it is absent."""

from collections.abc import Iterator

import pytest
from any_machine import pytest_make_parametrize_id as pytest_make_parametrize_id
from support.witness_hub import close_witnesses


@pytest.fixture(autouse=True)
def _witnesses_closed() -> Iterator[None]:
    yield
    close_witnesses()
