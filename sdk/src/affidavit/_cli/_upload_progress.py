"""How much of a file of outcomes was sent, so that an interrupted upload goes on where it stopped."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from affidavit._cli._download import replace_file
from affidavit._cli._hub_options import UsageError
from affidavit._cli._outcome_file import read_lines
from affidavit._credentials import HUB_VARIABLE, read_variable


@dataclass
class UploadProgress:
    """The progress of sending a file, stored next to it until all is sent.

    digest: the digest of the items that were sent, which detects changes.
    """

    file: Path
    target: str
    items: int = 0
    recorded: int = 0
    digest: str = ""

    @classmethod
    def read(cls, path: Path, *, hub: str | None, key: str, environment: str | None) -> "UploadProgress":
        """Return the stored progress for this file and target; no progress if the file has changed.

        The key is part of the target, because only the key says which workspace the outcomes go to.
        """
        target = sha256(json.dumps([read_variable(hub, HUB_VARIABLE), key, environment]).encode()).hexdigest()
        blank = cls(path.with_name(path.name + ".progress"), target)
        try:
            facts = json.loads(blank.file.read_text())
            progress = cls(blank.file, facts["target"], int(facts["items"]), int(facts["recorded"]), facts["digest"])
        except (OSError, ValueError, KeyError, TypeError):
            return blank
        return progress if progress.target == target and progress.digest == _hash_items(path, progress.items) else blank

    def write(self) -> None:
        """Store the progress. If the folder cannot be written, the next run starts over, which is harmless."""
        members = {name: value for name, value in asdict(self).items() if name != "file"}
        with suppress(UsageError):
            replace_file(self.file, json.dumps(members).encode())

    def forget(self) -> None:
        """Delete the stored progress."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


def _hash_items(path: Path, items: int) -> str:
    hasher = sha256()
    for line in islice(read_lines(path), items):
        hasher.update(line.content)
    return hasher.hexdigest()
