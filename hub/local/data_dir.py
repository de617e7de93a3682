"""The hub's data directory: private folders, a lock that one process holds, and a secret made at the first start."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hub.local.startup_errors import StartupError
from hub.private_files import write_private_file


def find_data_dir() -> Path:
    """Return HUB_DATA_DIR, by default `var` in the working directory."""
    return Path(os.environ.get("HUB_DATA_DIR") or "var").absolute()


def make_private_folder(path: Path) -> None:
    """Make a folder that only this user can enter; raises StartupError if it belongs to somebody else."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        raise StartupError(f"{path} belongs to another user; set HUB_DATA_DIR to a folder of your own.")
    path.chmod(0o700)


def load_or_create_secret(path: Path) -> str:
    """Return the secret in this file; a new one at the first start, the same for all processes that start at once."""
    if not path.exists():
        make_private_folder(path.parent)
        new_path = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        try:
            write_private_file(new_path, secrets.token_urlsafe(48))
            with suppress(FileExistsError):  # another process was first, and may use its secret already
                os.link(new_path, path)
        finally:
            new_path.unlink(missing_ok=True)
    return path.read_text().strip()


@contextmanager
def lock_data_dir(data_dir: Path) -> Iterator[None]:
    """Lock the data directory until the block or this process ends, however it ends. Raises StartupError."""
    make_private_folder(data_dir)
    with (data_dir / "hub.lock").open("a+") as lock:
        try:
            # A record lock belongs to this process alone; its children would share a lock of flock and keep it.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StartupError(
                f"another hub is running on {data_dir}, or a command that needs its database. "
                "Stop it, or set HUB_DATA_DIR and HUB_PORT for a second one."
            ) from None
        os.set_inheritable(lock.fileno(), True)  # the lock stays when this process becomes the supervisor
        yield
