"""No intent signs the Content-Type: refuse one by which a framework may read other arguments than were hashed."""

import pytest
from support.signed_calls import encode_json, make_protection, sign_bytes, sign_call

from affidavit import Admission, Call
from affidavit._intents.content_type import find_type_fault

FORM, JSON = "application/x-www-form-urlencoded", "application/json"


@pytest.mark.parametrize("content_type", [
    None, "", JSON, "Application/JSON ; charset=utf-8", "\tapplication/json\t;x=1", FORM, "text/plain;x=a,b", "+json",
    'text/plain; name="a, b"', "x",
])  # fmt: skip
def test_a_content_type_that_all_frameworks_read_alike_passes(content_type):
    assert find_type_fault(b"{}", content_type) is None


@pytest.mark.parametrize("content_type", [
    f"{FORM}\xa0", f"\xa0{FORM}", f"{FORM}\x85; x=1", f"{FORM}\x1f", f"{JSON}; x=\xe9", f"{JSON}\x00", f"{FORM}\x0b",
    f"{FORM},{JSON}", f"{FORM}, a/b+json", f"{JSON},", f"{FORM}\u2003", f"{FORM}\ud800",
])  # fmt: skip
def test_a_content_type_that_frameworks_read_differently_is_refused(content_type):
    assert "Content-Type" in find_type_fault(b"{}", content_type)


@pytest.mark.parametrize(("content_type", "first_line"), [
    ("multipart/form-data; boundary=b", "--b"), ("Multipart/Form-Data;BOUNDARY=b", "--b"),
    ('multipart/form-data; boundary="b=_/:1"', "--b=_/:1"), ("multipart/mixed; charset=x; boundary=b ; a=1", "--b"),
    ("multipart/form-data; charset*=utf-8''utf-7; boundary=b", "--b"), ("multipart/form-data; boundary=--b", "----b"),
])  # fmt: skip
def test_a_multipart_body_begins_with_its_boundary(content_type, first_line):
    for line_end in ("\r\n", "\n"):
        body = f"{first_line}{line_end}Content-Disposition: form-data; name=a{line_end * 2}1{line_end}--b--".encode()
        assert find_type_fault(body, content_type) is None
    for end in ("--", "--\r\n"):
        assert find_type_fault(first_line.encode() + end.encode(), content_type) is None  # a form without a field


@pytest.mark.parametrize("content_type", [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=c",
    "multipart/form-data; boundary=b; boundary=c", "multipart/form-data; boundary=c; boundary=b",
    "multipart/form-data; boundary=b; boundary*=utf-8''c", "multipart/form-data; boundary*0=b",
    'multipart/form-data; boundary="b', "multipart/form-data; boundary='b'", 'multipart/form-data; boundary="b\\x"',
    "multipart/form-data; boundary=b-", "multipart/form-data; x=1 boundary=b", 'multipart/form-data; x="; boundary=b"',
    "multipart/form-data; boundary =b", "multipart/form-data; boundary=" + "b" * 71,
])  # fmt: skip
def test_a_multipart_body_under_another_boundary_is_refused(content_type):
    assert "boundary" in find_type_fault(b"--b\r\n\r\n\r\n--b--\r\n", content_type)


@pytest.mark.parametrize(
    "body", [b"\r\n--b\r\n", b"text\r\n--b\r\n", b"--b \r\n", b"--b--\r\nmore", b"--b", b"--bc\r\n"]
)
def test_a_multipart_body_with_anything_before_its_first_part_is_refused(body):
    assert "boundary" in find_type_fault(body, "multipart/form-data; boundary=b")


def test_a_refused_type_is_an_args_mismatch_and_burns_no_nonce():
    protection, args = make_protection(), {"note": "a&amount=9999&b"}
    header = sign_call("POST /pay", args)

    def deliver(content_type):
        return protection.admit(Call(header, "POST", "/pay", "", encode_json(args).replace(b" ", b""), content_type))

    refusal = deliver(f"{FORM}\xa0")
    assert (refusal.status, b"args-mismatch" in refusal.body) == (403, True)
    assert isinstance(deliver(JSON), Admission)


def test_a_multipart_body_that_was_signed_cannot_be_read_under_another_boundary():
    inner = '--c\r\nContent-Disposition: form-data; name="amount"\r\n\r\n9999\r\n--c--\r\n'
    body = f'--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n{inner}\r\n--b--\r\n'.encode()
    protection = make_protection()
    for boundary, is_admitted in (("c", False), ("b", True)):
        call = Call(
            sign_bytes("POST /pay", body), "POST", "/pay", "", body, f"multipart/form-data; boundary={boundary}"
        )
        assert isinstance(protection.admit(call), Admission) is is_admitted


def test_a_verifier_without_a_framework_decides_by_the_text_of_the_type_alone():
    """Every implementation decides alike about such a type: the vectors of the contract pin that."""
    body, verifier = b"a&amount=9999&b", make_protection().verifier
    header = sign_bytes("POST /pay", body)
    assert verifier.verify(header, "POST", "/pay", "", body, f"{JSON}, {JSON}").operation == "POST /pay"
