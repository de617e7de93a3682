"""PostgreSQL out of its wheel, run as a private server of one data directory.

It listens on a Unix socket in a folder of mode 0700 and never on TCP. Its random password (SCRAM) is in a file of mode
0600.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from hub.local.data_dir import make_private_folder
from hub.local.postgresql.programs import POSTGRES_MAJOR, run_program
from hub.local.startup_errors import StartupError
from hub.private_files import write_private_file

DATABASE_ENGINE = "wire.postgresql"
USER_NAME = DATABASE_NAME = "affidavit"
WEB_USER_NAME = "affidavit_web"  # the role under which the web processes connect
SOCKET_LIMIT = 107 - len("/.s.PGSQL.5432.lock")  # sun_path of the smallest supported kernel
ZOMBIE_SECONDS = 30
PLAIN_PATH = re.compile(r"[\w./-]+")  # unix_socket_directories is a list with quoting rules of its own
NEW_CLUSTER = "postgres.new."  # how the name of an unfinished cluster begins
MAX_LOG_BYTES = 8 * 1024 * 1024
OLD_LOGS = 3

# A hub's data are small but must not be lost: durability keeps PostgreSQL's defaults, memory is limited.
CONFIGURATION = """\
listen_addresses = ''
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 60
shared_buffers = '256MB'
max_wal_size = '2GB'
log_min_error_statement = panic
log_parameter_max_length_on_error = 0
logging_collector = on
log_directory = '..'
log_filename = 'postgres.log'
log_rotation_age = 0
log_rotation_size = 0
"""
# logging_collector: the log can be renamed, because the collector opens it again when asked.
# log_min_error_statement: a failing statement's text may hold customers' ids, and logs must not.


@dataclass(frozen=True)
class Server:
    """One embedded server, named by the hub's data directory.

    wait_seconds: how long a start waits until the server takes connections.
    """

    data_dir: Path
    wait_seconds: int = 60
    name: ClassVar[str] = "PostgreSQL"

    @property
    def cluster(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def log(self) -> Path:
        return self.data_dir / "postgres.log"

    @property
    def password_file(self) -> Path:
        return self.data_dir / "postgres.password"

    @property
    def web_password_file(self) -> Path:
        return self.data_dir / "postgres-web.password"

    @property
    def moved_file(self) -> Path:
        """Return the file that says where `manage.py move_database` copied the data to."""
        return self.data_dir / "postgres.moved"

    @property
    def sockets(self) -> Path:
        """Return the socket's folder in the data directory.

        If that path is too long or not plain, return one in the system's folder for temporary files.
        """
        own_folder = self.data_dir.resolve() / "run"
        if len(str(own_folder)) <= SOCKET_LIMIT and PLAIN_PATH.fullmatch(str(own_folder)):
            return own_folder
        digest = hashlib.sha256(str(own_folder).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"affidavit-{os.getuid()}-{digest}"

    def connection_settings(self) -> dict[str, object]:
        """Return Django's settings of this database; the password is empty until the cluster exists."""
        password = self.password_file.read_text() if self.password_file.exists() else ""
        return {
            "ENGINE": DATABASE_ENGINE,
            "NAME": DATABASE_NAME,
            "USER": USER_NAME,
            "PASSWORD": password,
            "HOST": str(self.sockets),
        }

    def web_connection_settings(self) -> dict[str, object]:
        """Return the settings that differ for the role of the web processes, once it exists."""
        if not self.web_password_file.exists():
            return {}
        return {"USER": WEB_USER_NAME, "PASSWORD": self.web_password_file.read_text()}

    def is_running(self) -> bool:
        pid = self._read_pid()
        if pid is None or is_zombie(pid):
            return False
        return self._run_pg_ctl("status", check=False).returncode == 0

    def describe_end(self) -> str | None:
        """Say how the server ended; None while its process runs. This is cheap, because it starts no program."""
        pid = self._read_pid()
        if pid is None:
            return "ended"
        return None if is_alive(pid) else "ended without stopping"

    def start(self) -> None:
        """Make the cluster if there is none and start it; return when it takes connections.

        Raises StartupError if PostgreSQL is missing, of another version, or cannot start.
        """
        make_private_folder(self.data_dir)
        make_private_folder(self.sockets)
        self.refuse_moved_data()
        if not self.cluster.exists():
            self._create_cluster()
        self._check_version()
        (self.cluster / "hub.conf").write_text(CONFIGURATION.format(sockets=self.sockets))
        if not self.is_running():
            self._wait_for_zombie()
            self._rename_large_log()
            self._run_pg_ctl("--wait", f"--timeout={self.wait_seconds}", f"--log={self.log}", "start", log=self.log)

    def stop(self) -> None:
        if self.is_running():
            self._run_pg_ctl("--wait", "--timeout=60", "--mode=fast", "stop")
        self._remove_temporary_folder()

    def rotate_log(self) -> None:
        """Begin a new log if this one is large, or if an earlier attempt failed."""
        self._rename_large_log()
        if not self.log.exists() and self.describe_end() is None:
            self._run_pg_ctl("logrotate", check=False)

    def _rename_large_log(self) -> None:
        if not self.log.exists() or self.log.stat().st_size < MAX_LOG_BYTES:
            return
        logs = [self.log, *(self.log.with_name(f"{self.log.name}.{number}") for number in range(1, OLD_LOGS + 1))]
        for newer, older in reversed([*pairwise(logs)]):
            if newer.exists():
                newer.replace(older)

    def _remove_temporary_folder(self) -> None:
        """Remove the socket's folder if it is in the system's folder for temporary files and empty."""
        if not self.sockets.is_relative_to(self.data_dir.resolve()):
            with suppress(OSError):
                self.sockets.rmdir()

    def _read_pid(self) -> int | None:
        """Return the process id that the server noted; that process may have ended since."""
        try:
            return int((self.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    def _wait_for_zombie(self) -> None:
        """Wait until the system has collected a killed server: PostgreSQL mistakes its zombie for a running server."""
        deadline = time.monotonic() + min(ZOMBIE_SECONDS, self.wait_seconds)
        while (pid := self._read_pid()) and is_zombie(pid) and time.monotonic() < deadline:
            time.sleep(0.05)

    def _create_cluster(self) -> None:
        """Run initdb beside the final folder and rename, so that a killed start leaves nothing half-made.

        The folder has a name of its own, because the initdb of a killed start may still be running.
        """
        self._remove_new_clusters()
        new_cluster = Path(tempfile.mkdtemp(dir=self.data_dir, prefix=NEW_CLUSTER))
        self.password_file.unlink(missing_ok=True)
        write_private_file(self.password_file, secrets.token_urlsafe(32))
        run_program(
            "initdb",
            f"--pgdata={new_cluster}",
            f"--username={USER_NAME}",
            f"--pwfile={self.password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--locale=C.UTF-8",
            "--no-instructions",
        )
        with (new_cluster / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists 'hub.conf'\n")
        # Single-user mode starts no server, so none can be left behind.
        create = f"CREATE DATABASE {DATABASE_NAME};\n"
        run_program("postgres", "--single", "-D", str(new_cluster), "postgres", stdin=create)
        new_cluster.rename(self.cluster)
        self._remove_new_clusters()

    def _remove_new_clusters(self) -> None:
        for folder in self.data_dir.glob(f"{NEW_CLUSTER}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def refuse_moved_data(self) -> None:
        """Raise StartupError if the data are in another database now."""
        if self.moved_file.exists():
            raise StartupError(
                f"the data of {self.data_dir} were moved to {self.moved_file.read_text()}. Set DATABASE_URL to it; or "
                f"delete {self.moved_file}, to go on with the copy that stayed here."
            )

    def _check_version(self) -> None:
        major = (self.cluster / "PG_VERSION").read_text().strip()
        if major != str(POSTGRES_MAJOR):
            raise StartupError(
                f"the data in {self.cluster} were written by PostgreSQL {major}; this version brings {POSTGRES_MAJOR}. "
                f"Back up with the Affidavit that wrote them and restore here, or move them and set DATABASE_URL."
            )

    def _run_pg_ctl(
        self, *arguments: str, check: bool = True, log: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return run_program("pg_ctl", f"--pgdata={self.cluster}", *arguments, check=check, log=log)


def is_alive(pid: int) -> bool:
    """Return whether the process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user, so not the server that this user started
        return False
    return not is_zombie(pid)


def is_zombie(pid: int) -> bool:
    """Return whether the process is dead, but not collected yet. Without /proc, return False."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
