"""A proxy in front of the database. It cuts the connection after passing a text on, so that the answer is lost."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection

SOCKET_NAME = ".s.PGSQL.5432"
WHOLE = 1024 * 1024


class CuttingProxy:
    """A proxy that cuts once, when a client sends `text`.

    refuse: whether to refuse all later connections.
    """

    def __init__(self, folder: Path, server_socket: str) -> None:
        self.server_socket = server_socket
        self.text = b""
        self.refuse = False
        self.cuts = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / SOCKET_NAME))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, text: bytes, *, refuse: bool = False) -> None:
        self.text, self.refuse = text, refuse

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            if self.cuts and self.refuse:
                return
            server.connect(self.server_socket)
            threading.Thread(target=self._forward_answers, args=(server, client), daemon=True).start()
            while data := client.recv(WHOLE):
                if self.text and self.text in data:
                    self._cut(data, client, server)
                    return
                server.sendall(data)

    def _cut(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        self.text, self.cuts = b"", self.cuts + 1
        client.shutdown(socket.SHUT_RDWR)  # first, so that the answer cannot pass
        server.sendall(data)
        time.sleep(0.3)  # until the database has acted

    def _forward_answers(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(WHOLE):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def run_proxy(folder: Path) -> Iterator[CuttingProxy]:
    """Let Django's connection of this thread lead through a proxy."""
    address = connection.settings_dict["HOST"]
    proxy = CuttingProxy(folder, f"{address}/{SOCKET_NAME}")
    connection.close()
    connection.settings_dict["HOST"] = str(folder)
    try:
        yield proxy
    finally:
        connection.close()
        connection.settings_dict["HOST"] = address
        proxy.listener.close()
