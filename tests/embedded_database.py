"""Gives the whole test run one embedded PostgreSQL in a folder of its own, before Django's settings are read."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from hub.embedded import Server

FOLDER = "AFFIDAVIT_TEST_DATA"

if FOLDER not in os.environ:  # the run's first process; workers of pytest-xdist inherit it
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="affidavit tests ")
    os.environ["AFFIDAVIT_TEST_OWNER"] = str(os.getpid())
    Server(Path(os.environ[FOLDER])).start()

for name in ("DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY"):
    os.environ.pop(name, None)
os.environ["HUB_DATA_DIR"] = os.environ[FOLDER]


def pytest_unconfigure(config: pytest.Config) -> None:
    if os.environ.get("AFFIDAVIT_TEST_OWNER") == str(os.getpid()):
        Server(Path(os.environ[FOLDER])).stop()
        shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
