"""HAR files that tests write, and their entries."""

NOW = 1_800_000_000.0


def entry(method="GET", url="https://api.example.com/a", status=200, text=None, mime="application/json", **more):
    content = {} if text is None else {"text": text, "mimeType": mime, **more}
    return {
        "startedDateTime": "2026-01-02T03:04:05.678Z",
        "request": {"method": method, "url": url},
        "response": {"status": status, "content": content},
    }


def har(*entries, **log):
    return {"log": {"version": "1.2", **log, "entries": list(entries)}}


def only(items):
    (item,) = items
    return item
