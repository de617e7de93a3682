"""`make schema`: write the schema that the migrations create in an empty database into a file of the hub."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import connection
from psycopg import sql

import tests.embedded_database  # noqa: F401  # starts a server, and makes the settings use it
from hub.local.database.first_schema import SCHEMA_FILE
from hub.local.postgresql.programs import find_binaries

SCRATCH = "first_schema"
HEADING = "-- Written by `make schema` from the migrations. Do not change it by hand.\n"
MONTHS = "*_y????m??"  # partitions of months are left out: each start of a hub creates those that are needed
ABOUT_THE_SESSION = re.compile(r"^(--.*|SET .*|\\.*|SELECT pg_catalog\.set_config\(.*|)\n", re.MULTILINE)
MIGRATION_TIME = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^']*'(?=\)[,;]$)", re.MULTILINE)


@contextmanager
def scratch_database() -> Iterator[None]:
    """Connect to a new database of the same server, which is dropped afterwards."""
    name, create = connection.settings_dict["NAME"], sql.SQL("CREATE DATABASE {}").format(sql.Identifier(SCRATCH))
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(SCRATCH))
    with connection.cursor() as cursor:
        cursor.execute(drop)
        cursor.execute(create)
    connection.close()
    connection.settings_dict["NAME"] = SCRATCH
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
        with connection.cursor() as cursor:
            cursor.execute(drop)


def dump_migrated() -> tuple[str, str]:
    """Return the schema that the migrations create in an empty database: tables, and rows."""
    with scratch_database():
        call_command(Migrate(), verbosity=0, interactive=False)
        return dump("--schema-only"), MIGRATION_TIME.sub("now()", dump("--data-only", "--rows-per-insert=1000"))


def dump(*options: str) -> str:
    """Return statements of pg_dump for the database that is connected, without those about the session."""
    facts = connection.settings_dict
    variables = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    environment = {**os.environ, **{name: str(facts[key]) for name, key in variables.items() if facts[key]}}
    command = [find_binaries() / "pg_dump", "--no-owner", "--no-privileges", f"--exclude-table={MONTHS}", *options]
    output = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    return ABOUT_THE_SESSION.sub("", output.decode())  # text mode would change the carriage return in one index


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "hub.settings"
    django.setup()
    SCHEMA_FILE.write_bytes((HEADING + "".join(dump_migrated())).encode())


if __name__ == "__main__":
    main()
