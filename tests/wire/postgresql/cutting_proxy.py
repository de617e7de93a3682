"""A proxy in front of the database. It forwards a chosen statement, then cuts the connection before the answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection

SOCKET_NAME = ".s.PGSQL.5432"
BUFFER_SIZE = 1024 * 1024
ANSWER_SECONDS = 30  # the longest that the database may take to answer


class CuttingProxy:
    """A proxy that cuts once, when a client sends `text`.

    refuse: whether to refuse all later connections.
    """

    def __init__(self, folder: Path, server_socket: str) -> None:
        self.server_socket = server_socket
        self.text = b""
        self.refuse = False
        self.cuts = 0
        self.cut_client: socket.socket | None = None
        self.answered = threading.Event()  # whether the database has answered the cut client
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
            while data := client.recv(BUFFER_SIZE):
                if self.text and self.text in data:
                    self._cut(data, client, server)
                    return
                server.sendall(data)

    def _cut(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        self.text, self.cuts, self.cut_client = b"", self.cuts + 1, client
        server.sendall(data)
        self.answered.wait(ANSWER_SECONDS)  # so that the database has acted before the client continues
        client.shutdown(socket.SHUT_RDWR)

    def _forward_answers(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(BUFFER_SIZE):
                if client is self.cut_client:
                    self.answered.set()
                    return
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def run_proxy(folder: Path) -> Iterator[CuttingProxy]:
    """Route Django's connection of this thread through a proxy."""
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
