"""The names of operations in OpenAPI and of tools: short, plain, unique, and independent of the order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catalog.downloads.operation_names import MAX_TOOL_NAME_LENGTH, name_operations


def test_names_are_short_plain_and_unique():
    operations = [("GET", "/a-b"), ("GET", "/a/b"), ("GET", "/"), ("GET", "/" + "long/" * 40), ("GET", "/äb")]
    names = name_operations(operations)
    assert names[2] == "get"
    assert len({name.lower() for name in names}) == len(names)
    assert all(len(name) <= MAX_TOOL_NAME_LENGTH and name.replace("_", "").isalnum() for name in names)


def test_paths_that_were_chosen_to_have_one_digest_have_names_of_their_own():
    """Digests have 32 bits: a reporter finds such a pair within seconds."""
    pair = [
        ("GET", "/go-go-go-go/go-go/go/go/go-go-go/go/go/go/go/go/go-go"),
        ("GET", "/go-go-go/go/go/go-go/go-go/go/go/go-go-go/go/go/go-go"),
    ]
    names = name_operations(pair)
    assert len(set(names)) == 2
    assert name_operations(pair[::-1]) == names[::-1]


def test_a_path_that_ends_like_a_digest_does_not_clash_with_another_name():
    operations = [("GET", "/a-b"), ("GET", "/a/b")]
    digest = name_operations(operations)[0].removeprefix("get_a_b_")
    operations += [("GET", f"/a/b/{digest}"), ("GET", f"/a/b/{digest.upper()}")]
    assert len({name.lower() for name in name_operations(operations)}) == len(operations)


@given(st.permutations([("GET", "/a-b"), ("GET", "/a/b"), ("POST", "/a/{b}"), ("POST", "/a/by/b")]))
def test_a_name_does_not_depend_on_the_order(operations):
    named = dict(zip(operations, name_operations(operations), strict=True))
    assert named == dict(zip(sorted(operations), name_operations(sorted(operations)), strict=True))
