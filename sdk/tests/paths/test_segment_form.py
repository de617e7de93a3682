"""Segments that are data by their form in a path, although the same text is an ordinary name elsewhere."""

from affidavit._data_detection import is_data
from affidavit._paths.segment_form import detect_text_form


def test_a_prefixed_number_is_a_value_in_a_path_and_a_name_elsewhere():
    assert detect_text_form("order-1017") == detect_text_form("CUST000123") == "prefixed-number"
    assert not is_data("order-1017")
