"""RFC 8785 forms, written by hand, and the texts of random doubles, as Node writes them."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import Any

from .interpreters import run_signer

Case = dict[str, Any]

SEED, NUMBERS = 8785, 400
NUMBER_SIGNER = "node_numbers.mjs"


def values() -> Iterator[Case]:
    """Yield JSON texts (input) with their RFC 8785 forms (canonical), null if there is none (contract §3)."""
    for group in (_plain(), _strings(), _names(), _numbers(), _without_form()):
        for name, text, canonical in group:
            yield {"id": name, "input": text, "canonical": canonical}


def _plain() -> Iterator[tuple[str, str, str]]:
    yield "empty-object", " { } ", "{}"
    yield "empty-array", "[\n]", "[]"
    yield "literals", "[true, false, null]", "[true,false,null]"
    yield "spaces", ' {\t"b" :\r\n[ 1 , 2 ] , "a" : { } } ', '{"a":{},"b":[1,2]}'
    yield "order-of-an-array", "[3, 1, 2]", "[3,1,2]"
    yield "scalar", '"a"', '"a"'
    yield "sorted-at-every-level", '{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":0}', '{"a":0,"b":{"c":[{"e":2,"f":1}],"d":1}}'
    yield "deepest", "[" * 128 + "]" * 128, "[" * 128 + "]" * 128
    for name, scalar in (("string", '"a"'), ("number", "1"), ("boolean", "true"), ("null", "null")):
        text = "[" * 128 + scalar + "]" * 128
        yield f"deepest-with-{name}", text, text
    siblings = f'[[],1,{{"a":[2]}},{"[" * 127}3{"]" * 127},[]]'
    yield "deepest-with-siblings", siblings, siblings
    members = '{"a":' * 128 + "0" + "}" * 128
    yield "deepest-of-objects", members, members
    brackets = '"' + "[{" * 200 + '"'
    yield "brackets-in-a-string", brackets, brackets
    for name, start in (("quote", r'"\"'), ("backslash", r'"\\')):
        brackets = start + "[{" * 200 + '"'
        yield f"brackets-after-an-escaped-{name}", brackets, brackets
    brackets = r'["\\",{"\\\"":"' + "[{" * 200 + '"}]'
    yield "brackets-after-escapes", brackets, brackets


def _strings() -> Iterator[tuple[str, str, str]]:
    yield "short-escapes", r'"\u0008\u0009\u000a\u000c\u000d\u0022\u005c"', r'"\b\t\n\f\r\"\\"'
    yield "other-controls", r'"\u0001\u000B\u001F"', r'"\u0001\u000b\u001f"'
    yield "delete-stays", r'"\u007f"', '"\x7f"'
    yield "solidus-stays", r'"\/ /"', '"/ /"'
    yield "outside-ascii", r'"\u00fc\u20ac\u2028\ufeff"', '"ü€\u2028\ufeff"'
    yield "surrogate-pair", r'"\ud83d\uDE00"', '"😀"'
    yield "not-normalised", r'"A\u030a\u212b\u00c5"', '"A\u030a\u212b\u00c5"'
    yield "markup-stays", '"<b>&\'</b>"', '"<b>&\'</b>"'
    yield "escaped-backslash", r'"\\u0041"', r'"\\u0041"'


def _names() -> Iterator[tuple[str, str, str]]:
    yield "upper-before-lower", '{"b":1,"B":2,"a":3,"_":4,"":5}', '{"":5,"B":2,"_":4,"a":3,"b":1}'
    yield "digits-as-text", '{"10":1,"9":2,"1":3,"01":4}', '{"01":4,"1":3,"10":1,"9":2}'
    yield "prefix-first", '{"ab":1,"a":2,"a\\u0001":3}', '{"a":2,"a\\u0001":3,"ab":1}'
    yield "utf-16-order", '{"\ufb33":1,"😀":2,"€":3,"ö":4,"z":5}', '{"z":5,"ö":4,"€":3,"😀":2,"\ufb33":1}'
    yield (
        "utf-16-order-of-pairs",
        '{"\U0001f601":1,"\U0001f600":2,"\U00010000":3}',
        '{"\U00010000":3,"\U0001f600":2,"\U0001f601":1}',
    )
    yield "escaped-names", '{"\\u0062":1,"\\u0061\\n":2}', '{"a\\n":2,"b":1}'
    yield (
        "names-of-a-language",
        '{"toString":1,"__proto__":{"a":1},"constructor":2}',
        '{"__proto__":{"a":1},"constructor":2,"toString":1}',
    )


def _numbers() -> Iterator[tuple[str, str, str]]:
    for text, canonical in (
        ("0", "0"), ("-0", "0"), ("-0.0", "0"), ("0e5", "0"), ("1.0", "1"), ("-1.50", "-1.5"), ("1e2", "100"),
        ("12.50E+1", "125"), ("1e20", "100000000000000000000"), ("123456789012345680000", "123456789012345680000"),
        ("1e21", "1e+21"), ("1.5e300", "1.5e+300"), ("0.000001", "0.000001"), ("0.0000001", "1e-7"),
        ("1.25E-7", "1.25e-7"), ("9007199254740991", "9007199254740991"), ("-9007199254740992", "-9007199254740992"),
        ("9007199254740994", "9007199254740994"), ("9007199254740992", "9007199254740992"),
        ("9007199254740992.0", "9007199254740992"), ("9.007199254740992e15", "9007199254740992"),
        ("18014398509481984", "18014398509481984"), ("0.1", "0.1"),
        ("0.30000000000000004", "0.30000000000000004"), ("333333333.3333333", "333333333.3333333"),
        ("5e-324", "5e-324"), ("1.7976931348623157e308", "1.7976931348623157e+308"), ("4.50", "4.5"),
        ("100000000000000000000000", "1e+23"), ("1" + "0" * 308, "1e+308"), ("1e-27", "1e-27"), ("0.002", "0.002"),
    ):  # fmt: skip
        yield f"number-{text if len(text) < 30 else 'of-309-digits'}", text, canonical


def _without_form() -> Iterator[tuple[str, str, None]]:
    """Yield inputs without a form: two different numbers would share one text, or strict JSON refuses the input."""
    for text in (
        "9007199254740993", "-9007199254740993", "123456789012345678901", "0.10000000000000000001",
        "0.1000000000000000055511151231257827", "1e-400", "5e-325", "4e-324", "1.7976931348623159e308", "1e309",
        "1e23000", "1.00000000000000000000000000001", "9007199254740993.0", "9007199254740993e0", "0.3e-1000000",
    ):  # fmt: skip
        yield f"none-number-{text}", text, None
    yield "none-integer-within", '{"a":[{"id":9007199254740993}]}', None
    yield "none-duplicate-name", '{"a":1,"b":2,"a":1}', None
    yield "none-duplicate-escaped", '{"a":1,"\\u0061":1}', None
    yield "none-lone-surrogate", r'"\ud83d"', None
    yield "none-nul", r'"\u0000"', None
    yield "none-nan", "[NaN]", None
    yield "none-too-deep", "[" * 129 + "]" * 129, None
    yield "none-too-deep-with-scalar", "[" * 129 + "1" + "]" * 129, None
    yield "none-too-deep-with-siblings", f"[[],1,{'[' * 128}3{']' * 128},[]]", None
    yield "none-too-deep-of-objects", '{"a":' * 129 + "0" + "}" * 129, None
    yield "none-byte-order-mark", "\ufeff{}", None
    yield "none-empty", "", None
    yield "none-two-values", "{} {}", None
    yield "none-trailing-comma", '{"a":1,}', None


def numbers(committed_cases: list[Case]) -> list[Case]:
    """Return random finite doubles (bits, big-endian) and their ECMAScript texts; without Node, the committed ones."""
    bits = _random_doubles()
    texts = run_signer(NUMBER_SIGNER, "\n".join(bits))
    if texts is None:
        return committed_cases
    return [{"bits": double, "text": text} for double, text in zip(bits, texts.split(), strict=True)]


def _random_doubles() -> list[str]:
    """Return doubles, half of any magnitude, half where plain and scientific notation meet."""
    chance = random.Random(SEED)
    doubles: list[str] = []
    while len(doubles) < NUMBERS:
        bits = chance.getrandbits(64)
        if len(doubles) % 2:
            bits = bits & ~(0x7FF << 52) | chance.randrange(1023 - 30, 1023 + 75) << 52
        if (bits >> 52) & 0x7FF != 0x7FF:
            doubles.append(struct.pack(">Q", bits).hex())
    return doubles
