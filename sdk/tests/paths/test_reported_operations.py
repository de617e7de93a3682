"""The names of operations in reports, whatever a request line contains."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from affidavit._paths.reported_operations import MAX_OPERATION_LENGTH, MAX_REPORTED_SEGMENTS, name_operation


@given(st.text(max_size=20), st.text(max_size=600))
def test_any_request_line_is_reported_in_a_form_that_the_hub_accepts(method, path):
    operation = name_operation(method, path)
    assert 1 <= len(operation) <= MAX_OPERATION_LENGTH
    assert json.loads(json.dumps(operation).encode("ascii")) == operation
    operation.encode("utf-8")
    assert "\0" not in operation


def test_a_path_of_very_many_segments_costs_no_more_than_a_short_path():
    before = time.process_time()
    operation = name_operation("GET", "/1" * 100_000)
    assert time.process_time() - before < 0.05
    assert operation.count("/") <= MAX_REPORTED_SEGMENTS + 2
