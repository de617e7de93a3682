"""Start one embedded PostgreSQL for the whole test run, in its own folder, before Django's settings are read."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from hub.local.postgresql.server import Server

FOLDER = "AFFIDAVIT_TEST_DATA"


def start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit tests "))
    server, owner = Server(folder), os.getpid()

    def end() -> None:
        if os.getpid() == owner:  # a forked process must not stop it
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    server.start()
    os.environ[FOLDER] = str(folder)
    facts = server.connection_settings()
    address = make_conninfo(host=facts["HOST"], user=facts["USER"], password=facts["PASSWORD"], dbname=facts["NAME"])
    set_for_tests(address)
    server.stop()
    server.start()
    os.environ["AFFIDAVIT_TEST_POSTGRES"] = address  # the SDK's tests of stores, which run without the hub, use it


def set_for_tests(address: str) -> None:
    """Allow enough connections for several workers, each of which opens dozens, and do not wait for the disk.

    The settings take effect when the server is started again.
    """
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET max_connections = 200")
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET full_page_writes = off")


if FOLDER not in os.environ:  # only in the run's first process: workers of pytest-xdist inherit the variable
    start()

for name in ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY"):
    os.environ.pop(name, None)
os.environ["HUB_DATA_DIR"] = os.environ[FOLDER]
