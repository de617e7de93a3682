"""Fields of forms: their names, and which are files; never a value, and nothing from a body that is not a form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, Redactor, describe, from_descriptor, merge
from affidavit._shapes.form_fields import (
    FormField,
    FormFields,
    InvalidForm,
    PartScanner,
    TooManyFields,
    build_form,
    find_boundary,
    observe_form,
    parse_form,
)

PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
END = b"--x--\r\n"


def scan(data, step=1 << 20):
    scanner = PartScanner(b"x")
    for start in range(0, len(data), step):
        scanner.add(data[start : start + step])
    return [tuple(field) for field in scanner.finish().fields]


def observe_all(*forms, redactor=None):
    evidence = Evidence()
    for fields in forms:
        observe_form(evidence, FormFields(tuple(FormField(*field) for field in fields)), redactor=redactor)
    return evidence


@pytest.mark.parametrize(("data", "names"), [
    (b"a=1&b=2", ["a", "b"]), (b"a=1&a=2&", ["a", "a"]), (b"user%5Bname%5D=x&caf%C3%A9=1\r\n", ["user[name]", "café"]),
    (b"first+name=x&b=", ["first name", "b"]), (b"a[]=1&b:c=/d,e@f.example", ["a[]", "b:c"]),
])  # fmt: skip
def test_a_url_encoded_form_has_names(data, names):
    assert [field.name for field in parse_form(data).fields] == names


@pytest.mark.parametrize("data", [
    b"", b"&", b"canary", b"canary=", b'{"name":"canary"}', b'{"a":"b=c"}', b"[1,2]", b"<a b='c'/>", b"dear canary=1",
    b"%7B%22canary%22%3A1%7D=", b"%7B%22canary%22%7D=1", b"\xff=1", b"%FF=1", b"a=1&canary", b"a\x00=1",
    b"caf\xc3\xa9=1",
    b"a=1\nb=2", b"x" * 201 + b"=1", b"=1",
])  # fmt: skip
def test_a_body_that_may_be_no_form_is_not_read_as_a_form(data):
    with pytest.raises(InvalidForm):
        parse_form(data)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1 << 20])
def test_a_multipart_form_is_scanned_in_pieces_of_any_size(step):
    data = (
        PART % (b"note", b"", b"canary") + PART % (b"empty", b"", b"")
        + PART % (b"f", b'; filename="c.txt"', b"\r\n--y" * 50)
        + b"--x \t\r\ncontent-type: text/plain\r\n"
        + b"content-disposition: form-data; filename*=utf-8''c; name=g\r\n\r\n--x\r\n"
        + b'--x\r\nContent-Disposition: form-data; name="blob"\r\nContent-Type: application/octet-stream\r\n\r\nxx\r\n'
        + PART % ("café \\\"x".encode(), b"", b"\r\n--xy\r\n") + b"--x--trailing"
    )  # fmt: skip
    with pytest.raises(InvalidForm):  # a quotation mark in a name is refused
        scan(data, step)
    assert scan(data.replace(b'\\"', b""), step) == [
        ("note", False), ("empty", False), ("f", True), ("g", True), ("blob", True), ("café x", False),
    ]  # fmt: skip


@pytest.mark.parametrize("data", [
    b"", b"canary", PART % (b"a", b"", b"1"), b"--x\r\n\r\ncanary\r\n" + END, PART % (b"", b"", b"1") + END, END,
    b"--x\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n" + END, PART % (b"\xff", b"", b"1") + END,
    b"--x\r\n" + b"a: b\r\n" * 2000 + b"\r\n1\r\n" + END, PART % (b"a" * 201, b"", b"1") + END, b"--y--\r\n",
    b"--x\r\n" + b"a" * 9000,
])  # fmt: skip
def test_a_broken_multipart_form_has_no_fields(data):
    for step in (1, 1 << 20):
        with pytest.raises(InvalidForm):
            scan(data, step)


def test_a_scanner_buffers_at_most_a_header():
    scanner = PartScanner(b"x")
    scanner.add(PART % (b"f", b"; filename=a", b"canary"))
    for _ in range(1000):
        scanner.add(b"canary" * 10_000)
        assert len(scanner._text) < 100
    scanner.add(b"\r\n" + END)
    assert scanner.finish().fields == (FormField("f", True),)


def test_a_form_has_a_bounded_number_of_fields():
    assert len(parse_form(b"a=1&" * 1000).fields) == 1000
    with pytest.raises(TooManyFields):
        parse_form(b"a=1&" * 1001)
    with pytest.raises(TooManyFields):
        scan(PART % (b"a", b"", b"1") * 100_000 + END)
    with pytest.raises(InvalidForm):
        build_form([])


def test_half_a_surrogate_pair_is_no_name():
    with pytest.raises(InvalidForm):
        build_form([FormField("a\ud800")])


@pytest.mark.parametrize(("content_type", "boundary"), [
    ("multipart/form-data; boundary=abc", b"abc"), ('Multipart/Form-Data; charset=x; Boundary="a b"', b"a b"),
    ("multipart/form-data", b""), ("multipart/mixed; boundary=abc", b""), ("text/plain; boundary=abc", b""), ("", b""),
])  # fmt: skip
def test_the_boundary_is_that_of_a_multipart_form(content_type, boundary):
    assert find_boundary(content_type) == boundary


def test_files_are_binary_and_repeated_names_are_arrays():
    evidence = observe_all([("a",), ("f", True)], [("a",), ("g", True), ("g", True)])
    assert describe(evidence, counts=False) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "f": {"type": "string", "format": "binary"},
            "g": {"type": "array", "items": {"type": "string", "format": "binary"}},
        },
    }


def test_redaction_applies_to_fields_as_to_properties():
    evidence = observe_all([("password",), ("file", True)], redactor=Redactor(drop=["file"]))
    assert evidence.properties["password"].redacted
    assert "file" not in evidence.properties


def test_names_that_are_data_are_not_kept():
    evidence = observe_all([("anna@example.com", True)])
    assert (dict(evidence.properties), evidence.values.counts) == ({}, {"string": 1})


FORMS = st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=4), max_size=4)


@given(FORMS, FORMS, FORMS)
def test_the_mark_of_files_is_merged_too(first, second, third):
    a, b, c = observe_all(*first), observe_all(*second), observe_all(*third)
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    total = merge(merge(a, b), c)
    assert Evidence.from_state(total.to_state()) == total == total.copy()
    if total.seen:
        assert from_descriptor(describe(total, max_nodes=None), seen=total.seen) == total
