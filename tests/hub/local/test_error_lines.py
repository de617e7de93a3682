"""An unusable database is reported in one line with setting, fault and cure, and never a password."""

from __future__ import annotations

import errno

import pytest
from django.db import OperationalError

from hub.local import error_lines


def format_message(message: str, sqlstate: str | None = None) -> str:
    error = OperationalError(message)
    error.__cause__ = type("DiskFull", (Exception,), {"sqlstate": sqlstate})()
    return error_lines.format_error(error)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ('connection failed: server at "::1", port 1 failed: Connection refused\n\tIs it up?', "Connection refused. "),
        ('connection failed: server failed: FATAL:  database "x" does not exist', 'database "x" does not exist. '),
        ("connection timeout expired\nAll failures were:\n- host: 'h': connection timeout expired", "timeout expired"),
        (
            'connection failed: server at "::1", port 1 failed: root certificate file "/ca" does not exist\n'
            "Either provide the file, or change sslmode to disable server certificate verification.",
            'root certificate file "/ca" does not exist. Correct PGSSLMODE',
        ),
        ("connection failed: server failed: SSL error: certificate verify failed", "failed. Correct PGSSLMODE and"),
        ('connection is bad: invalid sslmode value: "x"', ': invalid sslmode value: "x". Correct PGSSLMODE and'),
        ("", "no connection"),
    ],
)
def test_the_reason_of_a_driver_error_is_printed_in_one_line(settings, message, reason):
    settings.DATABASE_URL = "postgresql://u:p@h/x"
    line = format_message(message)
    assert line.startswith("affidavit: DATABASE_URL: cannot be reached: ")
    assert reason in line
    assert "\n" not in line
    assert "FATAL" not in line


def test_only_the_kind_of_a_failed_statement_is_printed():
    line = format_message('could not extend file; key ("c-1042") of the customer', "53100")
    assert line == "affidavit: the database failed (DiskFull). Look into its log."


def test_without_a_database_url_the_embedded_server_is_named():
    assert "postgres.log in HUB_DATA_DIR" in format_message("connection failed: no such file")


@pytest.mark.parametrize(
    "reason", ["fe_sendauth: no password supplied", 'FATAL:  password authentication failed for user "affidavit"']
)
def test_the_file_with_the_password_of_the_embedded_server_is_named(reason):
    line = format_message(f"connection failed: connection to server on socket failed: {reason}")
    assert "postgres.password in HUB_DATA_DIR is missing or not that of postgres/. Put the right file back" in line
    assert "restore a backup" in line


@pytest.mark.parametrize(
    ("number", "cure"),
    [(errno.ENOSPC, "Free space there"), (errno.EACCES, "a folder of your own"), (errno.ENOTDIR, "Look at that file")],
)
def test_a_folder_that_cannot_be_used_names_its_setting_and_the_cure(number, cure):
    line = error_lines.format_error(OSError(number, "what the system says", "/data"))
    assert "/data: what the system says." in line
    assert "HUB_DATA_DIR" in line
    assert cure in line
    assert ("Free space" in line) == (number == errno.ENOSPC)


def test_an_argument_that_is_not_utf_8_is_told_from_other_texts_that_cannot_be_encoded():
    argument = "caf\udce9"  # how Python passes on the byte E9 of Latin-1
    with pytest.raises(UnicodeEncodeError) as caught:
        f"name {argument}".encode()
    assert error_lines.is_about_arguments(caught.value, ["manage.py", "create_key", argument])
    assert not error_lines.is_about_arguments(caught.value, ["manage.py", "create_key", "café"])
