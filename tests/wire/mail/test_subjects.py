"""A subject arrives as it was given, whatever names are in it."""

from __future__ import annotations

from email import message_from_bytes
from email.policy import default

import pytest
from django.core.mail import EmailMessage
from hypothesis import example, given
from hypothesis import strategies as st

from wire.mail.subjects import build_subject

ENCODED_WORD = "=?utf-8?q?=41=42?="
WORDS = st.sampled_from([ENCODED_WORD, "=?", "?=", "shop", "is", "silent", "é", "x" * 100])


def read_subject(subject: str) -> str:
    """Return the subject that a mail program shows."""
    content = EmailMessage(subject, "", "hub@example.com", ["ada@example.com"]).message().as_bytes()
    return str(message_from_bytes(content, policy=default)["Subject"])


def test_mail_programs_would_decode_an_encoded_word():
    assert read_subject(ENCODED_WORD) == "AB"


@given(st.lists(WORDS, min_size=1, max_size=40).map(" ".join))
@example(f"{ENCODED_WORD} is silent in production")
def test_mail_programs_show_a_subject_as_it_was_given(text):
    assert read_subject(build_subject(text)).strip() == text


@pytest.mark.parametrize("text", ["shop is silent", "Geschäft is silent", "a =? b"])
def test_only_a_text_that_may_hold_an_encoded_word_is_encoded(text):
    assert (build_subject(text) == text) is ("=?" not in text)
