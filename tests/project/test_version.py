"""Hub and SDK are released together, so their versions are one."""

import json
import re
import tomllib
from pathlib import Path

import affidavit
from hub.api_docs.document import render_document

ROOT = Path(__file__).resolve().parents[2]


def test_hub_and_sdk_have_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == affidavit.__version__
    assert json.loads(render_document())["info"]["version"] == affidavit.__version__


def test_the_changelog_begins_with_unreleased_changes_and_its_latest_release_is_this_version():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:]]
    assert all(released)
    assert not released or released[0][1] == affidavit.__version__
