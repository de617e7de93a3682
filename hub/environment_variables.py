"""Read the hub's environment variables; a wrong value is a StartupError that says what to set instead."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from environs import Env, EnvValidationError
from kombu import Connection

from hub.local.postgresql.server import DATABASE_ENGINE
from hub.local.startup_errors import StartupError

env = Env(eager=True)
REDIS_SECONDS = 5  # for a connection and for each answer
DJANGO_OPTIONS = frozenset({"assume_role", "isolation_level", "pool", "server_side_binding"})  # never PostgreSQL's
MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}  # by the scheme of EMAIL_URL


def read_variable_or_file(name: str) -> str:
    """Return the content of the file that NAME_FILE names, such as a mounted secret; else the value of NAME."""
    file = env.str(f"{name}_FILE", "")
    if not file:
        return env.str(name, "")
    try:
        if text := Path(file).read_text().strip():
            return text
    except OSError as error:
        raise StartupError(f"{name}_FILE: cannot read {file} ({error.strerror}). Name a readable file.") from None
    except UnicodeDecodeError:
        raise StartupError(f"{name}_FILE: {file} is no text in UTF-8. Name a text file.") from None
    raise StartupError(f"{name}_FILE: {file} is empty. Write the value into it, or leave {name}_FILE out.")


def read_secret_key(data_dir: Path, *, is_required: bool) -> str:
    """Return SECRET_KEY, or "" if it is not set and not required."""
    secret_key = read_variable_or_file("SECRET_KEY")
    if is_required and not secret_key:
        file = data_dir / "secret.key"
        cure = f"Set SECRET_KEY_FILE to {file} if it encrypted the data; else set" if file.exists() else "Set"
        raise StartupError(
            f"SECRET_KEY: required with DATABASE_URL, the same on every host. {cure} 50 random characters."
        )
    return secret_key


def strip_items(items: list[str]) -> list[str]:
    return [item.strip() for item in items if item.strip()]


def read_networks(name: str) -> list[IPv4Network | IPv6Network]:
    try:
        return [ip_network(item) for item in strip_items(env.list(name, []))]
    except ValueError as error:
        raise StartupError(f"{name}: {error}. Write addresses or networks such as 10.0.0.0/8.") from None


def read_origins(name: str) -> list[str]:
    """Return origins as browsers send them, without a slash at the end."""
    origins = [origin.removesuffix("/") for origin in strip_items(env.list(name, []))]
    for origin in origins:
        address = split_address(origin)
        if not address.netloc or address.path:
            raise StartupError(f"{name}: {origin} is no origin. Write it with its scheme: https://NAME.")
    return origins


def read_number(name: str, default: int, fault: str, *, least: int = 1, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`.

    fault: the message for any other value: what is wrong, and what to set.
    """
    with suppress(EnvValidationError):
        number = env.int(name, default)
        if least <= number and (most is None or number <= most):
            return number
    raise StartupError(f"{name}: {fault}")


def read_rate(name: str, default: int) -> int:
    fault = "not a number of requests a second. Set 0, which means no limit, or more."
    return read_number(name, default, fault, least=0)


def read_database_url(variable: str) -> dict[str, Any]:
    """Return Django's settings of the database whose address the variable holds."""
    connection_settings: dict[str, Any] = {}
    with suppress(EnvValidationError, ValueError):
        connection_settings = dict(env.dj_db_url(variable))
    name = str(connection_settings.get("NAME") or "/")  # with @ or / in it, the name is part of an unescaped password
    if connection_settings.get("ENGINE") != "django.db.backends.postgresql" or set(name) & set("@/"):
        raise StartupError(f"{variable}: not a PostgreSQL address. Write postgresql://USER:PASSWORD@HOST:5432/NAME.")
    if foreign := DJANGO_OPTIONS.intersection(connection_settings.get("OPTIONS", {})):
        raise StartupError(f"{variable}: leave out {min(foreign)}. Behind the ? can be PostgreSQL's own options only.")
    return {**connection_settings, "ENGINE": DATABASE_ENGINE}


def read_replica_url(primary: dict[str, Any]) -> dict[str, Any]:
    """Return Django's settings of the replica: those of the primary with the address and options of its own."""
    connection_settings = read_database_url("REPLICA_DATABASE_URL")
    options = {
        **primary["OPTIONS"],
        # If the replica vanishes from the network, the hub soon notices, and reads from the primary.
        "connect_timeout": 2,
        "keepalives_idle": 2,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        **connection_settings.get("OPTIONS", {}),
    }
    return {**primary, **connection_settings, "OPTIONS": options}


def read_broker_url() -> str:
    """Return the address of the message broker; several, separated by semicolons, are tried in turn."""
    url = env.str("CELERY_BROKER_URL", "") or "filesystem://"
    addresses = url.split(";")
    if any(address.startswith(("redis", "sentinel")) for address in addresses) and not find_spec("redis"):
        cure = "Install it: .venv/bin/python -m pip install -r requirements/redis.txt"
        raise StartupError(f"CELERY_BROKER_URL: the package redis is not installed. {cure}")
    if not all(is_broker(address) for address in addresses):
        cure = "Write redis://HOST:6379/0 or another address of Celery's, or leave it out."
        raise StartupError(f"CELERY_BROKER_URL: not a broker that can be used here. {cure}")
    return url


def list_transport_options(url: str, data_dir: Path) -> dict[str, Any]:
    """Return kombu's options for the broker."""
    if url.startswith("filesystem:"):
        folder = str(data_dir / "broker")
        return {"data_folder_in": folder, "data_folder_out": folder, "control_folder": f"{folder}-control"}
    if all(address.startswith(("redis", "sentinel")) for address in url.split(";")):
        # By default, one that does not answer is waited for without a limit, such as one without TLS at rediss://.
        return {"socket_connect_timeout": REDIS_SECONDS, "socket_timeout": REDIS_SECONDS, "socket_keepalive": True}
    return {}


def split_address(text: str) -> SplitResult:
    """Return the parts of an address; empty ones if it is none, such as one with half an IPv6 address."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the package that would contain it is missing
        return False


def check_tracing() -> None:
    """Raise StartupError if the endpoint for traces is not an address, or the packages for traces are missing."""
    endpoint = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    address = split_address(endpoint)
    if endpoint and not (address.scheme in ("http", "https") and address.netloc):
        raise StartupError("OTEL_EXPORTER_OTLP_ENDPOINT: not an address. Write http://HOST:4318.")
    if endpoint and not has_module("opentelemetry.instrumentation.django"):
        cure = "Install them: .venv/bin/python -m pip install -r requirements/otel.txt"
        raise StartupError(f"OTEL_EXPORTER_OTLP_ENDPOINT: the packages for traces are not installed. {cure}")


def is_broker(address: str) -> bool:
    """Return whether kombu can read the address and has its transport; kombu reads a bare word as a host."""
    try:
        Connection(address)
    except Exception:  # each of kombu's transports has its own way to refuse
        return False
    return "://" in address


def read_email() -> dict[str, Any]:
    """Return Django's settings of the mail server that EMAIL_URL names; without one, mail goes to the console."""
    address = env.str("EMAIL_URL", "")
    if not address:
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    with suppress(ValueError):  # for example a port that is no number
        server = urlsplit(address)
        extra = server.path.strip("/") or server.query or server.fragment
        user, password = unquote(server.username or ""), unquote(server.password or "")
        if not f"{user}{password}".isascii():  # smtplib fails at them
            raise StartupError("EMAIL_URL: the user and the password may have ASCII characters only. Set another one.")
        (server.hostname or "").encode("idna")  # as looking up the host does, which fails at an empty or long label
        if server.scheme in MAIL_PORTS and server.hostname and not extra:
            return {
                "EMAIL_BACKEND": "wire.mail.smtp.EmailBackend",
                "EMAIL_HOST": server.hostname,
                "EMAIL_PORT": server.port or MAIL_PORTS[server.scheme],
                "EMAIL_HOST_USER": user,
                "EMAIL_HOST_PASSWORD": password,
                "EMAIL_USE_TLS": server.scheme == "smtp+tls",
                "EMAIL_USE_SSL": server.scheme == "smtp+ssl",
            }
    raise StartupError("EMAIL_URL: not a mail server. Write smtp+tls://USER:PASSWORD@HOST:587.")


def read_oidc_issuer() -> str:
    """Return the issuer without a slash at its end, or "". Raise StartupError for what is no issuer."""
    issuer = (
        env.str("OIDC_ISSUER", "").strip().rstrip("/").removesuffix("/.well-known/openid-configuration").rstrip("/")
    )
    parts = split_address(issuer)
    is_local = parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1", "::1"}
    has_extra = not issuer.isprintable() or set(issuer) & set(" ?#@")  # an issuer has none of these
    if issuer and (has_extra or not parts.hostname or not (parts.scheme == "https" or is_local)):
        raise StartupError("OIDC_ISSUER: not an https:// address. Write the provider's issuer or discovery address.")
    return issuer


def check_oidc(issuer: str, client_id: str, *, only: bool) -> None:
    """Raise StartupError if the settings of OpenID Connect do not fit together."""
    if issuer and not client_id:
        raise StartupError("OIDC_CLIENT_ID: required with OIDC_ISSUER. Register this hub with the provider first.")
    if only and not issuer:
        raise StartupError("OIDC_ONLY: nobody could sign in without OIDC_ISSUER. Set it too.")
