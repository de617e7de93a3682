import hmac

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit._intents.signing_key import SigningKey, build_signing_key


@given(st.binary(max_size=200), st.binary(max_size=300))
@example(b"k" * 63, b"text")
@example(b"k" * 64, b"text")
@example(b"k" * 65, b"text")
def test_signatures_agree_with_the_standard_library(key, text):
    assert SigningKey(key).sign(text) == hmac.digest(key, text, "sha256")


def test_the_key_of_a_secret_is_its_utf_8_bytes_even_with_lone_surrogates():
    """Python reads an environment variable that is not UTF-8 as a text with lone surrogates."""
    secret = "\udcff" + "s" * 40
    assert build_signing_key(secret).sign(b"text") == hmac.digest(
        secret.encode("utf-8", "surrogatepass"), b"text", "sha256"
    )


@pytest.mark.parametrize(
    "secret", ["", "feeble", "s" * 31, "s" * 40 + "\n", " " + "s" * 40, "s" * 20 + "\u00a0" + "s" * 20]
)
def test_a_weak_secret_is_refused_and_never_repeated(secret):
    with pytest.raises(ValueError, match="secret") as caught:
        build_signing_key(secret)
    assert not secret or secret not in str(caught.value)
