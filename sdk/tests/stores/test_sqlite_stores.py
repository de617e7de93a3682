"""The SQLite stores are correct between processes and across forks, private, without leaks, and fast enough."""

import gc
import logging
import multiprocessing
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from any_machine import subprocess_environment
from support.calls_at_once import count_passes_at_once
from support.signed_calls import encode_json, make_protection, sign_call

from affidavit import Call, RedisNonces, SqliteDeliveries, SqliteNonces, SqlNonces, StoredResponse, StoreUnavailable
from affidavit._protection.deliveries import Claim, Finished, InFlight

NOW = 1_800_000_000.0
ONE = "1" * 64
RESPONSE = StoredResponse(201, (("content-type", "text/plain"),), b"\x00\xff")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "intents.sqlite"


def burn(store, nonce="n"):
    return store.burn("w", nonce, NOW + 300, now=NOW)


def claim(store, call="c"):
    return store.claim("w", call, ONE, now=NOW)


def test_both_stores_work_in_one_file_without_any_setup(path):
    nonces, deliveries = SqliteNonces(path), SqliteDeliveries(str(path))
    assert [burn(nonces), burn(nonces)] == [True, False]
    running = claim(deliveries)
    assert isinstance(running, Claim)
    assert deliveries.finish(running, RESPONSE, now=NOW)
    assert claim(SqliteDeliveries(path)) == Finished(RESPONSE)
    assert SqliteNonces(path).is_burnt("w", "n")


def test_a_file_made_by_the_sql_stores_can_be_used(path):
    earlier = SqlNonces(lambda: sqlite3.connect(path, check_same_thread=False))
    earlier.create_table()
    assert burn(earlier)
    assert not burn(SqliteNonces(path))
    earlier._database.close_idle()


def test_the_file_has_a_write_ahead_log_and_is_private(path):
    burn(SqliteNonces(path))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["", ":memory:", "file:x?mode=memory"])
def test_a_path_that_is_no_file_is_refused(name):
    with pytest.raises(ValueError, match="stores in memory"):
        SqliteNonces(name)


def test_of_64_copies_in_four_processes_exactly_one_passes(path):
    nonces, deliveries = SqliteNonces(path), SqliteDeliveries(path)
    for turn in range(3):
        assert count_passes_at_once(lambda turn=turn: burn(nonces, f"n-{turn}")) == 1
        assert count_passes_at_once(lambda turn=turn: isinstance(claim(deliveries, f"c-{turn}"), Claim)) == 1


LATER_WORKER = """
import sys
from affidavit import SqliteNonces

nonces = SqliteNonces(sys.argv[1])
for line in sys.stdin:
    nonce, now = line.split()
    print(nonces.burn("w", nonce, float(now) + 300, now=float(now)), flush=True)
"""


@pytest.mark.parametrize("endings", [["", "-wal", "-shm"], ["-wal", "-shm"], ["-shm"]])
def test_processes_share_the_file_again_after_it_was_deleted(path, endings, caplog):
    """A worker that starts later opens new files: the earlier ones must not go on with the deleted ones."""
    nonces = SqliteNonces(path)
    assert burn(nonces, "before")
    for ending in endings:
        path.with_name(path.name + ending).unlink()
    with subprocess.Popen(
        [sys.executable, "-c", LATER_WORKER, path], env=subprocess_environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as later:  # fmt: skip

        def burn_in_later_worker(nonce):
            later.stdin.write(f"{nonce} {NOW}\n")
            later.stdin.flush()
            return later.stdout.readline().strip() == "True"

        assert [burn_in_later_worker("n"), burn(nonces, "n")] == [True, False]
        assert [burn(nonces, "m"), burn_in_later_worker("m")] == [True, False]
        later.stdin.close()
    assert caplog.text.count("deleted or replaced") == 1


WORKER = """
import sys, time
from affidavit import SqliteDeliveries, SqliteNonces, StoredResponse
path, start, passed = sys.argv[1], float(sys.argv[2]), 0
while time.time() < start: pass
nonces, deliveries = SqliteNonces(path), SqliteDeliveries(path)
for number in range(200):
    passed += nonces.burn("w", str(number), time.time() + 300, now=time.time())
    claim = deliveries.claim("w", str(number), "1" * 64, now=time.time())
    if type(claim).__name__ == "Claim":
        passed += 1000 * deliveries.finish(claim, StoredResponse(200, (), b"x"), now=time.time())
print(passed)
"""


def test_processes_that_start_together_on_a_new_file_accept_each_call_once(path):
    command = [sys.executable, "-c", WORKER, str(path), str(time.time() + 2)]
    environment = subprocess_environment()
    workers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    passes = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert sum(passes) == 200 * 1001


def test_a_process_that_is_killed_in_a_transaction_leaves_no_lock(path):
    nonces = SqliteNonces(path)
    burn(nonces, "first")
    context = multiprocessing.get_context("fork")
    began = context.Event()

    def hold_lock():
        with sqlite3.connect(path) as connection:
            connection.execute("BEGIN IMMEDIATE")
            began.set()
            time.sleep(60)

    child = context.Process(target=hold_lock)
    child.start()
    began.wait(10)
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert burn(nonces, "second")


def test_a_fork_inherits_no_connection_and_disturbs_no_thread(path):
    nonces, is_over, failures = SqliteNonces(path), threading.Event(), []

    def burn_on():
        number = 0
        while not is_over.is_set():
            number += 1
            try:
                assert burn(nonces, f"parent-{number}")
            except BaseException as failure:
                failures.append(failure)
                return

    thread = threading.Thread(target=burn_on)
    thread.start()
    try:
        for turn in range(20):
            child = os.fork()
            if not child:
                os._exit(0 if not nonces._database._idle and burn(nonces, f"child-{turn}") else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert not burn(nonces, f"child-{turn}")
    finally:
        is_over.set()
        thread.join()
    assert failures == []


def test_a_grandchild_does_not_wait_for_its_parents_lock(path, monkeypatch):
    monkeypatch.setattr("affidavit._stores.sqlite_file._FORK_PATIENCE", 60)
    nonces = SqliteNonces(path)
    burn(nonces)
    began = time.monotonic()
    child = os.fork()
    if not child:
        grandchild = os.fork()
        if not grandchild:
            os._exit(0 if burn(nonces, "grandchild") else 1)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert time.monotonic() - began < 30


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_many_threads_and_many_stores_leak_no_file(path):
    def count_files():
        gc.collect()
        return sum("sqlite" in os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if
                   os.path.lexists(f"/proc/self/fd/{name}"))  # fmt: skip

    before = count_files()
    for round_number in range(5):
        nonces = SqliteNonces(path)
        threads = [threading.Thread(target=burn, args=(nonces, f"{round_number}-{n}")) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert count_files() - before <= 3  # the database, its write-ahead log, and the index of the log
    del nonces, threads
    assert count_files() == before


def deliver(protection, tool_call_id="c"):
    header = sign_call("POST /x", {"a": 1}, tool_call_id=tool_call_id)
    return protection.admit(Call(header, "POST", "/x", "", encode_json({"a": 1}), "application/json"))


def test_the_error_of_the_database_is_logged_and_not_sent(tmp_path, caplog):
    answer = deliver(make_protection(nonces=SqliteNonces(tmp_path / "no" / "such" / "folder.sqlite")))
    assert (answer.status, b"sqlite" in answer.body.lower()) == (503, False)
    assert "(FileNotFoundError: [Errno 2] No such file or directory: " in caplog.text


def test_the_error_of_a_redis_client_is_logged(caplog):
    class Broken:
        def eval(self, *_):
            raise ConnectionError("Error 111 connecting to redis:6379.\nConnection refused.")

    assert deliver(make_protection(nonces=RedisNonces(Broken()))).status == 503
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "(ConnectionError: Error 111 connecting to redis:6379. Connection refused.)" in record.getMessage()


def test_a_file_that_another_program_locks_for_long_is_an_outage(path, monkeypatch):
    monkeypatch.setattr("affidavit._stores.sqlite_file._BUSY_TIMEOUT", 0.1)
    nonces = SqliteNonces(path)
    assert burn(nonces, "before")
    nonces._database.close_idle()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as caught:
            burn(nonces)
        assert "database is locked" in caught.value.describe()
        other.execute("ROLLBACK")
        assert burn(nonces)


def test_a_call_in_flight_is_seen_by_another_process(path):
    claim(SqliteDeliveries(path))
    script = f"""
from affidavit import SqliteDeliveries
print(type(SqliteDeliveries({str(path)!r}).claim("w", "c", "1" * 64, now={NOW})).__name__)
"""
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, env=subprocess_environment(), capture_output=True, text=True, check=True)
    assert result.stdout == f"{InFlight.__name__}\n"
