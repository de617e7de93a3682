"""The folder of files that carries doorbells on one machine: kombu's, with messages that appear whole.

kombu opens a message under its final name and then writes it; a reader that comes between finds it empty, and a
worker that reads an empty message ends.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:
        """Write under a name that no reader looks for, then rename."""
        name = f"{time.monotonic_ns() // 1_000_000}_{uuid.uuid4()}.{queue}.msg"
        unseen = Path(self.data_folder_out, f".{name}")
        try:
            unseen.write_text(dumps(payload))
            unseen.rename(unseen.with_name(name))
        except OSError as error:
            raise ChannelError(f"cannot add a message to {self.data_folder_out}") from error


class Transport(filesystem.Transport):
    Channel = Channel
