"""The address of the hub: given, or read from AFFIDAVIT_HUB, or that of a hub on this machine."""

import http.client
import re
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from affidavit._credentials import HUB_VARIABLE, read_variable
from affidavit._errors import ReportError

from .connection import build_connection

DEFAULT_BASE_URL = "http://127.0.0.1:8000"
_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")  # characters that http.client refuses in a host and a path


def resolve_base_url(base_url: str | None) -> str:
    """Return `base_url`; if it is None, the value of AFFIDAVIT_HUB; without that, the URL of a hub on this machine."""
    address = read_variable(base_url, HUB_VARIABLE)
    return DEFAULT_BASE_URL if address is None else address


@dataclass(frozen=True, slots=True)
class HubAddress:
    secure: bool
    host: str
    port: int | None
    prefix: str

    @classmethod
    def parse(cls, base_url: str) -> "HubAddress":
        try:
            url = urlsplit(base_url)
            host, port = url.hostname or "", url.port
            host.encode("idna")  # as the socket does; it refuses an empty label, as in https://.example.com
        except (ValueError, AttributeError, TypeError):
            raise _make_invalid_base_url() from None
        extra = url.query or url.fragment or url.username is not None or url.password is not None
        is_sendable = base_url.isascii() and not _UNSENDABLE.search(host + url.path)
        if url.scheme not in ("http", "https") or not host or extra or not is_sendable:
            raise _make_invalid_base_url()
        return cls(url.scheme == "https", host, port, url.path.rstrip("/"))

    @property
    def text(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.prefix}"

    def build_connection(
        self, timeout: float, context: ssl.SSLContext | None, longest_answer: float
    ) -> http.client.HTTPConnection:
        own_context = context if self.secure else None
        return build_connection(self.host, self.port, timeout, own_context, longest_answer=longest_answer)


def _make_invalid_base_url() -> ReportError:
    detail = "This is no address of a hub. Give one such as https://hub.example.com, without query, user or spaces."
    return ReportError(detail, code="invalid-base-url")
