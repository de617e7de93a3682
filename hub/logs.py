"""One JSON object per log line, with the request's id; never a body, a key or a value."""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

from wire.http.request_id import current_request_id


class JsonFormatter(logging.Formatter):
    """Format a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := current_request_id.get():
            line["requestId"] = request_id
        if record.exc_info:
            kind, _, frames = record.exc_info
            # Only where it failed, not the message: one of the database may repeat a value.
            line["exception"] = [getattr(kind, "__name__", ""), *traceback.format_tb(frames)]
        return json.dumps(line, ensure_ascii=False)
