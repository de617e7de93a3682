"""What an error tells of another program, a database or a proxy, is one line that cannot fill or forge a log."""

import pytest

from affidavit import ReportError, StoreUnavailable


def fail_with(cause: str) -> str:
    try:
        try:
            raise OSError(cause)
        except OSError as error:
            raise StoreUnavailable("The store of nonces cannot be read.") from error
    except StoreUnavailable as fault:
        return fault.describe()


def test_the_error_of_a_database_is_named():
    assert fail_with("database is locked") == "The store of nonces cannot be read. (OSError: database is locked)"


@pytest.mark.parametrize("write", [fail_with, lambda text: str(ReportError(text))])
def test_a_text_from_elsewhere_is_one_line_of_at_most_4000_characters(write):
    lines = write("INSERT INTO nonces\n\tVALUES (1)\x1b[2J" + ", (2)" * 2_000)
    assert "INSERT INTO nonces VALUES (1)\\x1b[2J, (2)" in lines
    assert lines.isprintable()
    assert len(lines) < 4_100
