"""Write an event as the body of a webhook, a text for chats or a mail (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from wire.format_numbers import count_noun
from wire.text.invisible_characters import escape_invisible

# The sides that a change breaks, as pages name them
BROKEN_SIDES = {"consumer": "consumers", "producer": "producers", "both": "both sides"}


@dataclass(frozen=True)
class Message:
    """The content of the messages about an event.

    kind: the `type` of a webhook's body.
    heading: the title in one line, whatever the names in it hold: a further line would look like one of the hub's.
    details: the lines below the title.
    """

    kind: str
    title: str
    url: str
    workspace: str
    at: datetime
    facts: Mapping[str, Any]

    @property
    def heading(self) -> str:
        return _write_line(self.title)

    @property
    def details(self) -> list[str]:
        changes = self.facts.get("changes", [])
        lines = [_describe_change(change) for change in changes]
        omitted_count = self.facts.get("changeCount", 0) - len(changes)
        return [*lines, *([f"and {count_noun(omitted_count, 'more change')}"] if omitted_count > 0 else [])]


def build_body(message: Message) -> bytes:
    """Return the body of a webhook (contract §6). `timestamp` is in Unix seconds, as everywhere in the API."""
    data = {"workspace": message.workspace, "title": message.title, "url": message.url, **message.facts}
    body = {"type": message.kind, "timestamp": int(message.at.timestamp()), "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def build_slack_body(message: Message) -> bytes:
    """Return `{"text": …}` as Slack and compatible chats read it."""
    text = _escape(message.heading)
    title = f"<{message.url}|{text}>" if message.url else text
    lines = [
        f"{title} ({_escape(_write_line(message.workspace))})",
        *(f"• {_escape(line)}" for line in message.details),
    ]
    return json.dumps({"text": "\n".join(lines)}, ensure_ascii=False).encode()


def build_mail(message: Message) -> tuple[str, str]:
    """Return the subject and the text of a mail."""
    lines = [
        message.heading,
        *(f"- {line}" for line in message.details),
        "",
        f"Workspace: {_write_line(message.workspace)}",
        f"Time: {message.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        *([f"See: {message.url}"] if message.url else []),
    ]
    return message.heading, "\n".join(lines) + "\n"


def _describe_change(change: Mapping[str, str]) -> str:
    """Return a change in one line: `200 /total: type changed, breaks consumers`."""
    field = f"{change['part']} {change['pointer']}".strip()
    return _write_line(f"{field}: {change['change']}, breaks {BROKEN_SIDES.get(change['breaks'], change['breaks'])}")


def _write_line(text: str) -> str:
    """Return a text in one line, whatever the names in it hold; characters that nobody sees are written as codes."""
    return escape_invisible(" ".join(text.split()))


def _escape(text: str) -> str:
    """Escape `&`, `<` and `>` as Slack demands, and replace `|`, which separates a link's address from its text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "¦")
