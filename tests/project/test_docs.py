"""The documents agree with the code: settings, codes, reasons, addresses, links and examples."""

from __future__ import annotations

import ast
import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import get_commands
from django.urls import Resolver404, resolve, reverse

from affidavit import REASONS, IntentVerifier, MemoryNonces, args_hash, canonical_json, describe, infer, merge
from affidavit import mint_intent as mint
from alerts.pages.forms import SPIKE_SPANS
from alerts.setup.alerts import MAX_ALERTS
from alerts.setup.target_address import MAX_RECIPIENTS
from alerts.setup.targets import MAX_TARGETS
from catalog.change_kinds import CHANGE_KINDS
from hub.retention.data_kinds import KINDS
from intents.gate.serializers import ConfirmationForm, IntentForm
from intents.verification.serializers import VerifyForm
from wire.errors import DomainError
from wire.http.problems import CODES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("hub", "wire", "workspaces", "catalog", "outcomes", "intents", "alerts")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("sdk/*.md")])
UNDOCUMENTED_COMMANDS = {"sample_history"}  # `up` starts it, not an operator
UNDOCUMENTED_TARGETS = {"types", "help", "clean"}  # `make help` lists them
NO_ADDRESSES = {"/api/v1"}  # an address of another API
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"`([^`]+)`")


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def section(name: str, heading: str) -> str:
    """Return the text under a heading, up to the next heading of the same or a higher level."""
    level = heading.split(" ")[0]
    _, separator, rest = text_of(name).partition(f"\n{heading}\n")
    assert separator, f"{name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def first_column(text: str, header: str) -> list[str]:
    """Return the names in backticks in the first column of all tables in which that column has this header."""
    names: list[str] = []
    reading = False
    for line in text.splitlines():
        first = line.split("|")[1].strip() if line.startswith("|") else ""
        reading = bool(first) and (reading or first == header)
        names += CODE.findall(first) if reading else []
    return names


def blocks(text: str, language: str) -> list[str]:
    return [body for tag, body in BLOCK.findall(text) if tag == language]


def trees() -> Iterator[ast.AST]:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            yield ast.parse(path.read_text())


def variables(node: ast.AST) -> Iterator[str]:
    """Yield the environment variables that one node of a syntax tree reads."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="env")), args=[ast.Constant(value=str(name)), *_]):
            yield name
        case ast.Call(
            func=ast.Name(id="read_networks" | "read_number" | "read_origins" | "read_rate"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name
        case ast.Call(func=ast.Name(id="read_variable_or_file"), args=[ast.Constant(value=str(name))]):
            yield from (name, f"{name}_FILE")
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name
        case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(name)), ctx=ast.Load()):
            yield name


def arguments_of(pattern: str, function: str) -> set[str]:
    """Return the first arguments of all calls of a function in some files, if they are literals."""
    calls = (node for path in ROOT.glob(pattern) for node in ast.walk(ast.parse(path.read_text())))
    return {
        node.args[0].value
        for node in calls
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def subclasses_of(base: type) -> Iterator[type]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from subclasses_of(subclass)


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub makes from headings."""
    titles = (title.lower().replace("`", "") for title in HEADING.findall(path.read_text()))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def test_operating_md_lists_exactly_the_kinds_of_retention():
    table = text_of("docs/operating.md").partition("| kind | is |")[2].partition("\n\n")[0]
    listed = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert listed == [kind.label.lower() for kind in KINDS]


def test_webhooks_md_says_how_many_alerts_there_may_be_and_which_lengths_of_time_they_judge():
    text = " ".join(text_of("docs/webhooks.md").split())
    assert f"at most {MAX_ALERTS} alerts and {MAX_TARGETS} targets" in text
    assert f"at most {MAX_RECIPIENTS} e-mail addresses" in text
    assert SPIKE_SPANS == (15, 60, 4 * 60, 24 * 60)
    assert "15 minutes, 1 hour, 4 hours or 1 day" in text


def test_settings_md_lists_exactly_the_variables_that_the_code_reads():
    read = {name for tree in trees() for node in ast.walk(tree) for name in variables(node)}
    listed = first_column(text_of("docs/settings.md"), "variable")
    assert set(listed) == read
    assert len(listed) == len(set(listed))


def test_every_command_is_documented_and_every_documented_command_exists():
    own = {path.stem for path in (ROOT / "hub/management/commands").glob("[!_]*.py")} - UNDOCUMENTED_COMMANDS
    named = {name for path in DOCUMENTS for name in re.findall(r"manage\.py ([a-z]\w*)", path.read_text())}
    assert own - named == set()
    assert named - get_commands().keys() == set()


@pytest.mark.parametrize("name", ["docs/api.md", "docs/contract.md"])
def test_every_problem_code_is_listed_once_with_its_status_and_no_other(name):
    errors = section(name, "## Errors" if name == "docs/api.md" else "### Errors")
    rows = re.findall(r"^\| `([\w-]+)` \| (\d{3}) \|", errors, re.MULTILINE)
    assert sorted(first_column(errors, "code")) == sorted(CODES)
    assert sorted(rows) == sorted((code, str(status)) for code, (status, *_) in CODES.items())


def test_api_md_has_the_cure_of_each_problem_code_in_the_words_of_the_pages():
    rows = re.findall(r"^\| `([\w-]+)` \| \d{3} \| (.*) \|$", section("docs/api.md", "## Errors"), re.MULTILINE)
    cures = {code: re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cure) for code, cure in rows}
    assert cures == {code: cure for code, (_, _, cure) in CODES.items()}


def test_every_error_of_the_domain_has_a_code_that_http_knows():
    codes = {error.code for error in subclasses_of(DomainError) if hasattr(error, "code")}
    assert codes <= CODES.keys()


def test_contract_md_lists_exactly_the_reasons_in_the_order_of_the_checks():
    assert first_column(section("docs/contract.md", "### Reasons"), "reason") == list(REASONS)


def test_api_md_describes_exactly_the_endpoints_that_are_served():
    served = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path) for path in arguments_of("*/api_urls.py", "path")} - {""}
    documented = re.findall(r"^## [A-Z]+ /api/(\S+)$", text_of("docs/api.md"), re.MULTILINE)
    assert {*documented} == {*served}


@pytest.mark.parametrize(
    ("endpoint", "form"),
    [("intents", IntentForm), ("confirmations", ConfirmationForm), ("intents/verify", VerifyForm)],
)
def test_api_md_says_how_long_each_text_may_be(endpoint, form):
    """The two forms share some members. Only the table of the first form lists them."""
    tables = section("docs/api.md", f"## POST /api/{endpoint}") + section("docs/api.md", "## POST /api/intents")
    for name, field in form().fields.items():
        if longest := getattr(field, "max_length", None):
            row = re.search(rf"^\| `{name}` \|.*$", tables, re.MULTILINE)
            assert row, name
            assert f"{'at most' if field.allow_blank else '1 to'} {longest:,} characters" in row[0], name


def test_api_md_lists_the_kinds_of_change_with_the_words_of_the_pages():
    table = section("docs/api.md", "## Pages as data").partition("| `change` | on pages |")[2]
    assert dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", table, re.MULTILINE)) == CHANGE_KINDS


def test_api_md_lists_exactly_the_pages_that_are_served():
    pages = first_column(section("docs/api.md", "## Pages as data"), "page")
    assert sorted(pages) == sorted(arguments_of("*/urls.py", "page_paths"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file_and_a_heading(path):
    for target, anchor in LINK.findall(path.read_text()):
        file = path.parent / target if target else path
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_json_example_is_json(path):
    for example in blocks(path.read_text(), "json"):
        json.loads(example)


def test_the_merged_descriptor_in_contract_md_is_what_merging_gives():
    *values, merged = map(json.loads, blocks(section("docs/contract.md", "### Merge"), "json"))
    first, second = (infer(value) for value in values)
    assert json.dumps(describe(merge(first, second))) == json.dumps(merged)
    third = infer({"id": "A-3"})
    example = re.search(r'`(\{"type": "unknown", "reason": "divergent".*?\}\})`', text_of("docs/contract.md"))
    assert describe(merge(merge(first, second), third))["properties"]["id"] == json.loads(example[1])


def test_the_signed_intent_in_contract_md_verifies():
    example = section("docs/contract.md", "### An example to test against")
    arguments = re.search(r'`(\{"note".*\})`', example)[1]
    form, digest = blocks(example, "text")[0].splitlines()
    assert (canonical_json(json.loads(arguments)).decode(), args_hash(json.loads(arguments))) == (form, digest)
    assert f"`{args_hash({})}`" in example

    payload = json.loads(blocks(example, "json")[0])
    secret, issued_at = "gas_" + "A" * 43, payload["issuedAt"]
    minted = mint(
        secret, tenant_id=payload["tenantId"], sub=payload["sub"], aud=payload["aud"], operation=payload["operation"],
        args_hash=digest, tool_call_id=payload["toolCallId"], nonce=payload["nonce"], now=issued_at,
    )  # fmt: skip
    assert minted.payload == payload
    assert envelope_of(minted.header)["signature"] in example
    verifier = IntentVerifier(
        secrets=secret,
        workspace=payload["tenantId"],
        audience=payload["aud"],
        nonces=MemoryNonces(several_workers=True),
        now=lambda: issued_at,
    )
    assert verifier.verify(minted.header, "POST", "/orders", "", arguments.encode(), "application/json").sub


def envelope_of(header: str) -> dict[str, Any]:
    return json.loads(urlsafe_b64decode(header + "=" * (-len(header) % 4)))


def calls() -> Sequence[tuple[str, str, Any]]:
    """Return address, body and documented answer of every POST in api.md whose curl sends the body with `-d`."""
    matches = []
    for title, rest in re.findall(r"^## POST (/api/\S+)\n(.*?)(?=^## )", text_of("docs/api.md"), re.M | re.S):
        body = re.search(r"-d '(.*?)'", rest, re.DOTALL)
        if body is None:  # curls with --data get a different answer each time
            continue
        matches.append((title, body[1], json.loads(blocks(rest, "json")[0])))
    return matches


def test_every_curl_with_a_fixed_answer_in_api_md_gets_this_answer(api):
    documented_calls = calls()
    assert documented_calls
    for address, body, answer in documented_calls:
        response = api.post(address, body.encode())
        assert (address, response.json()) == (address, answer)


def test_every_address_that_a_document_names_is_served():
    addresses = {
        (path.name, address)
        for path in DOCUMENTS
        for address in re.findall(r"(?<![\w.>/-])(/(?:api/[\w/{}.-]+|healthz|readyz|metrics)\b)", path.read_text())
    }
    assert addresses
    unserved = [(name, address) for name, address in sorted(addresses) if not is_served(address)]
    assert [item for item in unserved if item[1] not in NO_ADDRESSES] == []


def is_served(address: str) -> bool:
    try:
        resolve(re.sub(r"\{\w+\}", str(UUID(int=0)), address.rstrip("./")))
    except Resolver404:
        return False
    return True


@pytest.mark.parametrize("name", ["healthz", "readyz", "metrics", "openapi", "api-docs"])
def test_all_other_addresses_are_documented(name):
    assert any(f"{reverse(name)}" in path.read_text() for path in DOCUMENTS)


def test_the_documented_targets_of_make_are_those_that_exist():
    targets = set(re.findall(r"^([a-z]+):.*##", text_of("Makefile"), re.MULTILINE)) - UNDOCUMENTED_TARGETS
    documents = "\n".join(path.read_text() for path in DOCUMENTS)
    named = set(re.findall(r"(?:`|^ *)make ([a-z]+)\b", documents, re.MULTILINE))
    assert (targets - named, named - targets) == (set(), set())
