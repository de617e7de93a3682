from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from tests.alerts.receiver import Receiver, run_receiver


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A receiver on this machine, to which the hub may send."""
    settings.WEBHOOK_PRIVATE_TARGETS = [ip_network("127.0.0.0/8")]
    with run_receiver() as receiver:
        yield receiver
