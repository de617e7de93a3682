"""Which names of properties promise a value that identifies a thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn

from affidavit._paths.words.property_names import Reading, read_name

WORD = st.from_regex("[a-z]{1,12}", fullmatch=True)
JOINT = st.sampled_from(["", "_", "-", "."])


@given(WORD, JOINT)
def test_a_property_whose_name_ends_with_name_identifies_a_thing(word, joint):
    assert read_name(f"{word}{joint}name") is Reading.IDENTITY
    assert read_name(f"{word.capitalize()}Name") is Reading.IDENTITY


@given(WORD)
def test_a_property_whose_name_only_begins_with_name_is_read_by_its_last_word(word):
    assert read_name(f"name_{word}") is read_name(word)


@pytest.mark.parametrize("name", ["branch", "default_branch", "sourceRepo", "repository", "repositories"])
def test_a_property_that_is_named_after_a_branch_or_a_repository_identifies_it(name):
    assert read_name(name) is Reading.IDENTITY


def test_one_owner_with_two_projects_and_one_branch_does_not_leave():
    """A path may leave the process only if it names neither the owner, nor the project, nor the branch."""
    body = {"username": "jane-doe", "reponame": "otter", "branch": "main", "status": "success"}
    learner = learn(
        *(
            (f"GET /api/v1/project/git/jane-doe/{project}/{part}", [{**body, "reponame": project}])
            for project in ("otter", "dotfiles")
            for part in ("17", "keys", "settings", "tree/main")
        ),
        ("GET /api/v1/projects", [body]),
        ("GET /api/v1/me", {"login": "jane-doe"}),
    )
    for project in ("otter", "dotfiles"):
        result = learner.template(f"/api/v1/project/git/jane-doe/{project}/tree/main")
        assert result.undecided or not {"jane-doe", project, "main"}.intersection(result.path.split("/"))
