"""Start one embedded PostgreSQL for the whole test run, in its own folder, before Django's settings are read."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from psycopg.conninfo import make_conninfo

from hub.local.embedded_postgres import Server

FOLDER = "AFFIDAVIT_TEST_DATA"


def start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="affidavit tests "))
    server, owner = Server(folder), os.getpid()

    def end() -> None:
        if os.getpid() == owner:  # not in a forked process
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    server.start()
    os.environ[FOLDER] = str(folder)
    facts = server.connection_settings()  # for the stores in the SDK's tests, which run without the hub
    os.environ["AFFIDAVIT_TEST_POSTGRES"] = make_conninfo(
        host=facts["HOST"], user=facts["USER"], password=facts["PASSWORD"], dbname=facts["NAME"]
    )


if FOLDER not in os.environ:  # the run's first process; workers of pytest-xdist inherit it
    start()

for name in ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY"):
    os.environ.pop(name, None)
os.environ["HUB_DATA_DIR"] = os.environ[FOLDER]
