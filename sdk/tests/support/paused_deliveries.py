"""Deliveries whose claims wait until a test lets them go on."""

import threading

from affidavit import MemoryDeliveries


class PausedDeliveries(MemoryDeliveries):
    """A store that runs in threads, as those of a database do.

    claiming: set once a claim has begun.
    go_on: a claim waits for it, for at most 10 s.
    abandoned: the claims that were given up.
    """

    is_in_memory = False

    def __init__(self):
        super().__init__(several_workers=True)
        self.claiming, self.go_on, self.abandoned = threading.Event(), threading.Event(), []

    def claim(self, *args, **kwargs):
        self.claiming.set()
        self.go_on.wait(10)
        return super().claim(*args, **kwargs)

    def abandon(self, claim):
        self.abandoned.append(claim)
        super().abandon(claim)
