"""Pages are compressed, except those that show a secret."""

import gzip

PAGE = "/w/lumen-books/staging/rejections"


def test_a_page_is_compressed_unless_it_shows_a_secret(browser_client, workspace):
    compressed = browser_client.get(PAGE, headers={"Accept-Encoding": "gzip"})
    assert compressed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in compressed["Vary"]
    assert b'<html lang="en"' in gzip.decompress(compressed.content)
    again = browser_client.get(PAGE, headers={"Accept-Encoding": "gzip", "If-None-Match": compressed["ETag"]})
    assert again.status_code == 304
    form = {"name": "backend", "scopes": ["report"]}
    address = "/w/lumen-books/staging/keys"
    shown_once = browser_client.post(f"{address}/create", form, follow=True, headers={"Accept-Encoding": "gzip"})
    assert "gak_" in shown_once.content.decode()
    assert "data-in-zone" not in shown_once.content.decode()  # this would reload the page, and the key would be gone
    assert "Content-Encoding" not in shown_once
