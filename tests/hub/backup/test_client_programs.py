"""Backups use the first client programs that reach the database, with the TLS options of its address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hub.backup import client_programs
from hub.environment_variables import read_database_url
from hub.local.startup_errors import StartupError

NO_TLS = 'psql: error: sslmode value "verify-full" invalid when SSL support is not compiled in'


def write_programs(folder: Path, psql: str) -> Path:
    """Write a pg_dump of version 18 and a psql that runs these lines of shell."""
    folder.mkdir()
    for name, lines in {"pg_dump": "echo 'pg_dump (PostgreSQL) 18.4'", "psql": psql}.items():
        (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
        (folder / name).chmod(0o700)
    return folder


@pytest.fixture
def database(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:p@h:6000/d?sslmode=verify-full&sslrootcert=/tls/ca.pem")
    return read_database_url("DATABASE_URL")


def test_options_of_the_address_reach_the_programs(database):
    environment = client_programs.build_environment(database)
    expected = {
        "PGHOST": "h", "PGPORT": "6000", "PGUSER": "u", "PGPASSWORD": "p", "PGDATABASE": "d",
        "PGSSLMODE": "verify-full", "PGSSLROOTCERT": "/tls/ca.pem", "PGAPPNAME": "affidavit",
    }  # fmt: skip
    assert expected.items() <= environment.items()


def test_programs_without_tls_are_passed_over_if_the_database_demands_it(database, monkeypatch, tmp_path):
    without_tls = write_programs(tmp_path / "wheel", f"echo '{NO_TLS}' >&2; exit 2")
    with_tls = write_programs(tmp_path / "system", '[ "$PGSSLROOTCERT" = /tls/ca.pem ]')
    monkeypatch.setattr(client_programs, "list_folders", lambda: iter([without_tls, with_tls]))
    assert client_programs.find_connecting_clients(18, database) == with_tls
    monkeypatch.setattr(client_programs, "list_folders", lambda: iter([without_tls]))
    with pytest.raises(StartupError, match=re.escape(NO_TLS)) as caught:
        client_programs.find_connecting_clients(15, database)
    assert "install the client programs of PostgreSQL 15 or newer" in str(caught.value)
