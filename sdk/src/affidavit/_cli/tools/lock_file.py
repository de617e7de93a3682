"""The file tools.lock, which has each tool's definition and digest, and how the present tools differ from the file."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from affidavit._canonical import NotCanonical, canonical_json
from affidavit._cli._hub_options import UsageError
from affidavit._cli.tools.changes import ToolChange, list_changes, read_operation
from affidavit._json import InvalidJson, Json, parse

LOCK_VERSION = 1
ADDED, REMOVED, CHANGED, ALTERED = "added", "removed", "changed", "altered"


@dataclass(frozen=True)
class LockedTool:
    """One tool as read from the file, unchecked: anything may have been altered.

    digest: the value of `sha256`.
    """

    digest: Json
    definition: Json


@dataclass(frozen=True)
class ToolsLock:
    """The content of a lock file.

    environment: the environment whose tools were locked.
    tools: the locked tools by name.
    """

    environment: str
    tools: Mapping[str, LockedTool]


@dataclass(frozen=True)
class Difference:
    """One tool that is not as it was locked.

    kind: ADDED, REMOVED, CHANGED or ALTERED (in the file).
    """

    kind: str
    name: str
    operation: str
    changes: tuple[ToolChange, ...] = ()


def hash_tool(definition: Json) -> str:
    """Return the lower-case hex SHA-256 of a definition's RFC 8785 form; "" if it has none."""
    try:
        return sha256(canonical_json(definition)).hexdigest()
    except NotCanonical:
        return ""


def encode_lock(environment: str, definitions: Mapping[str, Json]) -> bytes:
    """Return the bytes of the file: the same for the same tools."""
    tools = {
        name: {"sha256": hash_tool(definition), "definition": definition}
        for name, definition in sorted(definitions.items())
    }
    content = {"lockVersion": LOCK_VERSION, "environment": environment, "tools": tools}
    return f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()


def read_lock(path: Path) -> ToolsLock:
    """Return the content of a lock file. Raises UsageError if the file cannot be read or is no lock."""
    try:
        content = parse(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist. Write it with `affidavit tools lock`.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except InvalidJson as error:
        raise UsageError(f"{path} is no lock. {error} Write it anew with `affidavit tools lock`.") from None
    match content:
        case {"lockVersion": 1, "environment": str(environment), "tools": dict(tools)}:
            return ToolsLock(environment, {name: _read_tool(tool) for name, tool in tools.items()})
    raise UsageError(f"{path} is no lock of version {LOCK_VERSION}. Write it anew with `affidavit tools lock`.")


def _read_tool(tool: Json) -> LockedTool:
    members = tool if isinstance(tool, dict) else {}
    return LockedTool(members.get("sha256"), members.get("definition"))


def compare_with_lock(lock: ToolsLock, definitions: Mapping[str, Json]) -> list[Difference]:
    """Return all differences by name; [] exactly if the tools are those of the lock, and its digests fit."""
    names = sorted(lock.tools.keys() | definitions.keys())
    return [difference for name in names for difference in _compare_tool(name, lock, definitions)]


def _compare_tool(name: str, lock: ToolsLock, definitions: Mapping[str, Json]) -> Iterator[Difference]:
    if name not in lock.tools:
        yield Difference(ADDED, name, read_operation(definitions[name]))
        return
    locked_tool = lock.tools[name]
    operation = read_operation(locked_tool.definition)
    digest = hash_tool(locked_tool.definition)
    if not digest or locked_tool.digest != digest:
        yield Difference(ALTERED, name, operation)
    if name not in definitions:
        yield Difference(REMOVED, name, operation)
    elif digest != hash_tool(definitions[name]):
        changes = list_changes(locked_tool.definition, definitions[name])
        yield Difference(CHANGED, name, read_operation(definitions[name]), tuple(changes))
