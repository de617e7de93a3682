import threading
import time

from support.store_servers import postgres_schema, sqlite_in

from affidavit._stores.sql import Database


def test_a_thread_that_returns_at_once_does_not_overtake_waiting_threads(tmp_path):
    """Three threads ask for the only connection again as soon as they have given it back."""
    database, is_over, waits = Database(sqlite_in(tmp_path), connections=1), threading.Event(), []

    def run_on():
        while not is_over.is_set():
            database.run(lambda execute: time.sleep(0.001))

    greedy = [threading.Thread(target=run_on) for _ in range(3)]
    for thread in greedy:
        thread.start()
    for _ in range(20):
        began = time.monotonic()
        database.run(lambda execute: None)
        waits.append(time.monotonic() - began)
    is_over.set()
    for thread in greedy:
        thread.join()
    assert max(waits) < 5


def test_no_statement_is_prepared_in_the_server():
    """PgBouncer in transaction mode gives each transaction another connection, which has other prepared statements."""
    with postgres_schema() as connect:
        database = Database(connect)
        for number in range(10):
            database.run(lambda execute, number=number: execute("SELECT CAST(? AS integer)", number).fetchone())
        assert database.run(lambda execute: execute("SELECT name FROM pg_prepared_statements").fetchone()) is None
        database.close_idle()
