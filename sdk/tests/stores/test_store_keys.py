import pytest

from affidavit._stores.store_keys import memory_key


@pytest.mark.parametrize("length", [1, 58, 59, 60, 61, 62, 63, 64, 65, 8_000])
def test_keys_in_memory_have_at_most_64_characters_and_differ_for_different_names(length):
    pairs = ("w", "n" * length), ("wn", "n" * (length - 1)), ("w", "n" * (length + 1)), ("1", ":" * length)
    keys = {memory_key(*pair) for pair in pairs}
    assert len(keys) == len(pairs)
    assert all(len(key) <= 64 for key in keys)
