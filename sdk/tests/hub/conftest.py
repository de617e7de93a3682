"""Transports whose waits are recorded, for the tests of this folder."""

import pytest

from affidavit._hub.transport import HttpTransport


class Sleeper:
    """Records waits instead of waiting, and advances its clock by them."""

    def __init__(self):
        self.waits = []

    def __call__(self, seconds):
        self.waits.append(seconds)

    def clock(self):
        return sum(self.waits)


@pytest.fixture
def sleeper():
    return Sleeper()


@pytest.fixture
def open_transport(sleeper):
    opened = []

    def open_(base_url, timeout=5.0, **options):
        defaults = {"sleep": sleeper, "clock": sleeper.clock, "chance": lambda: 1.0}
        opened.append(HttpTransport(base_url, timeout, **{**defaults, **options}))
        return opened[-1]

    yield open_
    for transport in opened:
        transport.close()
