"""A store in memory refuses to work in one of several workers, each of which would have a store of its own."""

import os

import pytest

from affidavit._errors import StoreUnavailable
from affidavit._intents.nonces import MemoryNonces
from affidavit._stores.in_memory import OneProcess

NOW = 1_800_000_000.0


def test_the_memory_store_refuses_to_work_in_a_forked_process():
    store = MemoryNonces()
    store.burn("w", "n", NOW, now=NOW)
    child = os.fork()
    if not child:
        try:
            store.burn("w", "m", NOW, now=NOW)
        except StoreUnavailable:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert store.burn("w", "m", NOW, now=NOW)


def test_the_memory_store_refuses_several_workers_unless_allowed(monkeypatch):
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    with pytest.raises(StoreUnavailable, match="several_workers"):
        MemoryNonces().burn("w", "n", NOW, now=NOW)
    assert MemoryNonces(several_workers=True).burn("w", "n", NOW, now=NOW)


def fork_workers(workers: int) -> list[int]:
    """Fork workers from one server; return their exit codes. Code 7: a store in memory would refuse to work."""
    ready, go = os.pipe(), os.pipe()
    children = []
    for _ in range(workers):
        child = os.fork()
        if not child:
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            try:
                OneProcess(several_workers=False).check()
            except StoreUnavailable:
                os._exit(7)
            os._exit(0)
        children.append(child)
    for _ in children:
        os.read(ready[0], 1)
    codes = []
    os.write(go[1], b"x" * workers)
    for child in children:
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return codes


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs /proc")
def test_the_memory_store_notices_other_workers_of_a_forking_server():
    assert fork_workers(1) == [0]
    assert 7 in fork_workers(3)
