"""`make audit` fails if a package is vulnerable or could not be looked up."""

from __future__ import annotations

import pytest

from tests.audit import Verdict, audit, judge

SOUND = {"name": "django", "version": "5.2.1", "vulns": []}
UNSOUND = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1", "2"]}]}
SKIPPED = {"name": "b", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("packages", "status", "words"),
    [
        ([SOUND, SOUND], 0, ["1 packages: no vulnerability is known."]),
        ([SOUND, UNSOUND], 1, ["a 1: PYSEC-1, mended in 1.1, 2"]),
        ([SOUND, SKIPPED], 2, ["1 of 2 packages could not be looked up: b."]),
        ([UNSOUND, SKIPPED], 1, ["PYSEC-1", "could not be looked up: b."]),
    ],
)
def test_known_vulnerabilities_and_failed_look_ups_are_reported_with_an_exit_status(packages, status, words):
    verdict = judge(packages)
    assert verdict.status == status
    assert [word for word in words if word not in verdict.text] == []


def test_unreadable_output_is_a_failure(tmp_path):
    assert audit([tmp_path / "missing.txt"]) == Verdict(2, audit([tmp_path / "missing.txt"]).text)
    assert audit([tmp_path / "missing.txt"]).text.startswith("Nothing was audited: ")
