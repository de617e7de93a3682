"""Files that are read twice, though they may come through a pipe."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

from affidavit._errors import HarError

STREAMS = ("/dev/", "/proc/")  # of open files, whose place in the file may be shared


@contextmanager
def replayable(path: str) -> Iterator[str]:
    """The path of a file that can be read from its beginning any number of times.

    What comes through a pipe is copied to a temporary file that only this user can read, gone afterwards.
    """
    if not os.path.exists(path) or os.path.isdir(path) or _is_regular(path):
        yield path
        return
    with NamedTemporaryFile(prefix="affidavit-", suffix=".har") as copy:
        try:
            with open(path, "rb") as stream:
                shutil.copyfileobj(stream, copy)
            copy.flush()
        except OSError as error:
            raise HarError(f"{path} cannot be read: {error.strerror or 'no place to copy it to'}.") from None
        yield copy.name


def _is_regular(path: str) -> bool:
    return os.path.isfile(path) and not os.path.realpath(path).startswith(STREAMS)
