"""The broker of one machine: kombu's folder of files, with messages that appear complete.

kombu opens a message under its final name and then writes it. A worker that reads it in between finds it empty and
exits.
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
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # as kombu's own
        """Write under a hidden name, then rename, so that a reader finds it complete."""
        name = f"{time.monotonic_ns() // 1_000_000}_{uuid.uuid4()}.{queue}.msg"
        hidden_path = Path(self.data_folder_out, f".{name}")
        try:
            hidden_path.write_text(dumps(payload))
            hidden_path.rename(hidden_path.with_name(name))
        except OSError as error:
            raise ChannelError(f"cannot add a message to {self.data_folder_out}") from error


class Transport(filesystem.Transport):
    Channel = Channel
