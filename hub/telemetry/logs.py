"""One JSON object per log line, of bounded length, with the request's id; never a body, a key or a value."""

import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from hub.telemetry.secret_patterns import CUT, cut_secrets
from wire.postgresql.sqlstates import find_sqlstate
from wire.request_context import current_request_id

MAX_MESSAGE = 1_000  # characters
MAX_SECURITY_MESSAGE = 200  # characters of a line that strangers can cause, such as a form without a token
MAX_FRAMES = 30  # the last frames of an exception, next to the failure

log = logging.getLogger("affidavit")


class JsonFormatter(logging.Formatter):
    """Format a record as one line of JSON, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        is_strangers = record.name.startswith("django.security")
        limit = MAX_SECURITY_MESSAGE if is_strangers else MAX_MESSAGE
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": clean(format_message(record), limit),
        }
        if request_id := current_request_id.get():
            line["requestId"] = clean(request_id, MAX_SECURITY_MESSAGE)
        if trace_id := getattr(record, "trace_id", ""):
            line["traceId"] = trace_id
        kind, error, frames = record.exc_info or (None, None, None)
        if state := getattr(record, "sqlstate", "") or find_sqlstate(error):
            line["sqlstate"] = state
        if kind and not is_strangers:
            # Log where it failed and not the message of the error: a database's message may repeat a value.
            last_frames = traceback.format_tb(frames)[-MAX_FRAMES:]
            line["exception"] = [getattr(kind, "__name__", ""), *(clean(frame, MAX_MESSAGE) for frame in last_frames)]
        return json.dumps(line)  # in ASCII: other line ends and control characters would tear a line apart


def log_uncaught_errors() -> None:
    """Write errors that end this process or one of its threads, and warnings, as JSON lines like every other record."""
    sys.excepthook = log_uncaught_error
    threading.excepthook = log_error_of_thread
    logging.captureWarnings(True)


def log_uncaught_error(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        log.critical("the process ends", exc_info=(kind, error, frames))


def log_error_of_thread(failure: threading.ExceptHookArgs) -> None:
    if failure.exc_value is not None and not issubclass(failure.exc_type, SystemExit):
        log.error("a thread ends", exc_info=(failure.exc_type, failure.exc_value, failure.exc_traceback))


def format_message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # whatever is wrong with the arguments: a line without them is better than a traceback with them
        return str(record.msg)


def clean(text: str, limit: int) -> str:
    """Return the text without secrets, cut after `limit` characters."""
    # Cut first, because patterns take longer for longer texts. Keep twice the limit, so that a secret that this cut
    # splits is usually beyond the limit.
    text = cut_secrets(text[: 2 * limit])
    return text if len(text) <= limit else text[:limit] + CUT
