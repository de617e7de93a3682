"""Commands with a data directory whose database nobody has used yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hub.hub_process import running_hub


@pytest.mark.parametrize("command", [["sign_in_link"], ["grant_web_role", "affidavit"]], ids=" ".join)
def test_a_command_that_needs_a_hub_leaves_an_empty_folder_empty(tmp_path: Path, command: list[str]):
    with running_hub(tmp_path) as hub:
        result = hub.manage(*command)
        assert result.returncode == 1
        assert result.stderr.startswith("affidavit: no hub has used this database yet.")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.xdist_group("whole hub")
def test_prune_finds_nothing_and_a_role_gets_no_rights_on_tables_that_are_missing(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        result = hub.manage("grant_web_role", "affidavit")
        assert result.returncode == 1
        assert result.stderr.startswith("affidavit: no hub has used this database yet.")
        assert result.stderr.count("\n") == 1
        result = hub.manage("prune")
        assert (result.returncode, result.stderr) == (0, "")
        assert "0  broken joins" in result.stdout


def test_a_command_of_django_says_that_the_tables_are_missing_in_one_line(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        result = hub.manage("createsuperuser", "--noinput", "--username", "ada", "--email", "ada@shop.example")
    assert result.returncode == 1
    assert result.stderr.startswith("affidavit: the database lacks tables of this version")
    assert result.stderr.count("\n") == 1
