"""The benchmark of accuracy measures any recording, also of an API that takes forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.sdk.accuracy import FIGURES, learn_recording, measure_recorded_paths


def make_entry(method: str, path: str, form: str, answer: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"method": method, "url": f"https://api.example.com{path}", "headers": []}
    if form:
        request["postData"] = {"mimeType": "application/x-www-form-urlencoded", "text": form}
    content = {"mimeType": "application/json", "text": json.dumps(answer)}
    return {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": request,
        "response": {"status": 200, "content": content},
        "_template": path.replace("17", "{orderId}"),
    }


def test_a_recording_with_forms_is_measured(tmp_path: Path) -> None:
    entries = [
        make_entry("POST", "/orders", "sku=A-3&note=call+first", {"id": 17}),
        make_entry("GET", "/orders/17", "", {"id": 17}),
    ]
    file = tmp_path / "shop.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    recording = learn_recording(file)
    figures = {name: measure(recording) for name, measure in FIGURES.items()}
    assert (figures["exact %"], figures["valid under exports %"]) == ("100.0", "100.00")
    assert {part for entry in recording.observations for part in entry} >= {"request", "response"}
    measure_recorded_paths([file])
