"""Names that are data: what a value looks like, and the ordinary names that only resemble one."""

import time
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._data_detection import detect_data_kind, is_data

DATA = {
    "number": ["17", "-1.5", "99.9", "2024", "+49 170 1234567", "1.2.3"],
    "uuid": ["7d444840-9dc0-11d1-b245-5ffdce74fad2", "order_7D444840-9DC0-11D1-B245-5FFDCE74FAD2_total"],
    "hex": [
        "deadbeef",
        "0xCAFEBABE",
        "661efcf8a00203e4",
        "attribute_661efcf8a00203e4",
        "build_3f9ab27c",
        "RUN-7F3E1A9B11",
    ],
    "date": ["2024-05-17", "2024-05", "2024-05-17T10:00:00Z", "17.05.2024", "12:30", "2024-W05"],
    "email": ["anna@example.com", "user_anna.b@mail.example.co.uk_count"],
    "hostname": ["db1.example.com", "api.eu.example.io", "printer.local", "db.example.org:5432", "example.com."],
    "ip": [
        "192.0.2.1",
        "192.0.2.0/24",
        "2001:db8::1",
        "192.0.2.1:80",
        "v:192.0.2.1",
        "[2001:db8::1]",
        "[2001:db8::1]:443",
        "fe80::1%eth0",
        "[fe80::1%25eth0]:80",
    ],
    "card": ["4111111111111111", "4111 1111 1111 1111"],
    "iban": ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"],
    "key": [
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "AKIAIOSFODNN7EXAMPLE",
        "AKIAQWRTPLKJHGFZXCVB",
        "AIzaQwrtplkjhgfzxCvbnmQwrtplkjhgfzxCvbn",
        "glpat-UNwhc-uhHzwTBIDHZPXR",
        "hf_riHphkdmttWsGlwbqaUJ",
        "npm_WGXELCFLLYJxoqyfgSXkkQBISmaXAdefo",
    ],
    "digits": ["Test-run-1684765756", "user_20240517_x"],
    "mixed": [
        "k3Jd82mQp0Zx7Lw5Rt9vBn4c",
        "x-k3Jd82mQp0Zx7Lw5Rt9vBn4c-y",
        "ocid1.disk.oc1.eu.anxwcljrk3enqvtcb47dx6ewcsmpjqzbpqxblsikzgkiw7ubhhgopqf3i3q",
        "qixbwytbrnkrzlwb5ggxi6xnva",
        "QIXBWYTBRNKRZLWB5GGXI6XNVA",
    ],
    "url": ["https://example.com/a"],
    "text": ["word " * 50],
}
ORDINARY = [
    "id", "", "ipv4", "sha256", "md5", "v2", "p99", "x_1", "address2", "us-east", "us-east-1", "created_at",
    "createdAt", "http.status_code", "service.name", "user.id", "e2e_queries", "x509", "__proto__", "@type", "$ref",
    "+1", "-1", "used_in_last_24_hours", "isEnabledForVersion2CustomersOnly", "numberOfRequestsInLast24Hours",
    "averageLatencyOfTheNinetyNinthPercentile99", "system_load_norm_15_per_cpu_count", "feedback", "ISO-8859-1",
    "node.k8s.example/host-uuid", "aws:us-east-2", "error_404", "iso27001", "first name", "größe", "名前", "a/b~c",
    "public-ipv6", "facade", "Content-Type", "base64", "oauth2_token", "index.html", "h264_profile",
    "x_face2024", "x_decade80", "added_2024abc", "gas_price_estimate_currency", "sk_translation_of_summary",
    "pk_constraint_on_order_lines", "hf_transformersModelName", "npm_package_repository_url",
    "x509certificatethumbprintsha1", "X509CERTIFICATETHUMBPRINTSHA1", "ipv4ipv6dualstackmtu1500",
    "oauth2accesstokenlifetime30d",
    "npm_CONFIG_REGISTRY_ADDRESS", "whsec_rotation_interval_days", "pk_allowedUnsafeDefaults",
]  # fmt: skip


@pytest.mark.parametrize(("expected", "name"), [(kind, name) for kind, names in DATA.items() for name in names])
def test_a_name_that_is_a_value_is_recognised_by_its_form(expected, name):
    assert detect_data_kind(name) == expected
    assert is_data(name)


KEYS = {"glpat-": 20, "whsec_": 32, "sk-proj-": 48, "gas_": 43, "gak_": 43, "sk_live_": 24, "sk-ant-api03-": 40}


@given(st.sampled_from(sorted(KEYS)), st.integers(0, 2**32))
def test_a_random_key_after_a_known_prefix_is_data_whatever_its_characters(prefix, seed):
    alphabet = ascii_letters + digits + ("" if "live" in prefix else "-_")
    key = prefix + "".join(Random(seed).choices(alphabet, k=KEYS[prefix]))
    assert is_data(key)
    assert is_data(f"for_{key}")


@pytest.mark.parametrize("alphabet", [ascii_lowercase + "234567", ascii_uppercase + "234567", digits + ascii_lowercase])
def test_most_long_ids_in_one_case_are_data(alphabet):
    """Few digits make long runs of letters, as words do. Ids in capitals and small letters are recognised anyway."""
    ids = ["".join(Random(seed).choices(alphabet, k=40)) for seed in range(500)]
    assert sum(map(is_data, ids)) > 0.85 * len(ids)


OTHER_SCRIPTS = {
    "\u0660\u0661\u0667\u0666\u0661\u0662\u0663\u0664\u0665\u0666\u0667": "number",  # Arabic digits
    "\uff10\uff11\uff17\uff16\uff11\uff12\uff13\uff14\uff15\uff16\uff17": "number",  # full-width digits
    "m\u00fcller.com": "hostname", "shop.m\u00fcller.com": "hostname",
    "415\u2011555\u20112671": "number", "415\u2013555\u20132671": "number",
    "m\u00fcller@\u4f8b\u3048.jp": "email", "alice%40example.com": "email", "alice\uff20example.com": "email",
    "%2B49%20170%201234567": "number", "user-\u0967\u0968\u0969\u096a\u096b\u096c\u096d\u096e": "digits",
    "\uff31\uff12": None, "\u540d\u524d": None, "gr\u00f6\u00dfe": None, "\u00bd": None, "100%": "number", "%zz": None,
}  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), OTHER_SCRIPTS.items())
def test_values_are_recognised_in_other_scripts_and_percent_encoded(name, expected):
    assert (detect_data_kind(name), is_data(name)) == (expected, expected is not None)


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_name_is_no_data(name):
    assert not is_data(name)


@given(st.uuids(), st.sampled_from(["", "order_", "the-"]), st.booleans())
def test_every_uuid_in_a_name_is_recognised(uuid, prefix, upper):
    text = str(uuid).upper() if upper else str(uuid)
    assert is_data(prefix + text)
    assert is_data(uuid.hex)


@given(st.emails(domains=st.just("example.com")))
def test_every_address_as_a_name_is_recognised(address):
    assert is_data(address)


@given(st.text(max_size=300))
def test_any_name_is_judged_and_the_verdict_is_repeatable(name):
    assert is_data(name) == is_data(name)


@pytest.mark.parametrize("unit", ["1", "a1", "a.", "1.", "1 ", ":", "a@", "@a.", "A0", "eyJa.", "-1", "0:"])
def test_no_name_takes_long_to_judge(unit):
    started = time.process_time()
    for text in (unit * 100, unit * 5000, unit * 99 + "!"):
        detect_data_kind(text)
    assert time.process_time() - started < 0.1
