"""Make input readable twice, although it comes through a pipe."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

from affidavit._errors import HarError

_STREAMS = ("/dev/", "/proc/")  # folders of open files, whose position may be shared


@contextmanager
def make_rereadable(path: str) -> Iterator[str]:
    """Yield the path of a file that can be read any number of times.

    A pipe is copied to a temporary file, which only this user can read and which is deleted after use. Raises HarError.
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
    return os.path.isfile(path) and not os.path.realpath(path).startswith(_STREAMS)
