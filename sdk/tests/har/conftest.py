import json

import pytest
from har.har_files import NOW, har

from affidavit._har.entries import read_har


@pytest.fixture
def write_file(tmp_path):
    def write(content, name="traffic.har"):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(data)
        return path

    return write


@pytest.fixture
def read(write_file):
    return lambda *entries: list(read_har(write_file(har(*entries)), now=NOW))
