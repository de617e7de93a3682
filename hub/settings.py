"""Django's settings, from environment variables; docs/settings.md lists each (a test compares them)."""

import logging
from pathlib import Path

from hub.environment_variables import (
    check_oidc,
    check_tracing,
    env,
    list_transport_options,
    read_broker_url,
    read_database_url,
    read_email,
    read_networks,
    read_number,
    read_oidc_issuer,
    read_origins,
    read_rate,
    read_replica_url,
    read_secret_key,
    read_variable_or_file,
    strip_items,
)
from hub.local.data_dir import find_data_dir, load_or_create_secret
from hub.local.host_names import LOCAL_HOSTS, bracket
from hub.local.postgresql.server import Server
from hub.local.startup_errors import StartupError
from hub.programs.beat_schedule import BEAT_SCHEDULE
from workspaces.people.attempt_limits import ACCOUNT_RATE_LIMITS  # noqa: F401  # allauth reads it here

BASE_DIR = Path(__file__).resolve().parent.parent

HUB_HOST = env.str("HUB_HOST", "127.0.0.1")
HUB_PORT = read_number("HUB_PORT", 8000, "not a port. Set a number from 1 to 65535.", most=65535)
HUB_DATA_DIR = find_data_dir()
DATABASE_URL = env.str("DATABASE_URL", "")
WEB_DATABASE_URL = env.str("WEB_DATABASE_URL", "")
REPLICA_DATABASE_URL = env.str("REPLICA_DATABASE_URL", "")
# Seconds. A replica that is further behind is not read.
REPLICA_MAX_AGE = read_number("REPLICA_MAX_AGE", 30, "not a number of seconds. Set a number from 1 on.")
HUB_BALLAST_MIB = read_number("HUB_BALLAST_MIB", 64, "not a size. Set a number of MiB, or 0 for none.", least=0)
HUB_SAMPLE = env.bool("HUB_SAMPLE", not DATABASE_URL)
HUB_START_EMPTY = env.bool("HUB_START_EMPTY", False)

if DATABASE_URL:
    DATABASE = read_database_url("DATABASE_URL")
    web_database = read_database_url("WEB_DATABASE_URL") if WEB_DATABASE_URL else {}
    own_names = {"NAME", "USER", "PASSWORD", "HOST", "PORT"} & web_database.keys()
    WEB_DATABASE = {name: web_database[name] for name in own_names}  # for the web processes' role
elif WEB_DATABASE_URL:
    raise StartupError(
        "WEB_DATABASE_URL: works only beside DATABASE_URL, as the same database with another user. Set both."
    )
else:
    DATABASE = Server(HUB_DATA_DIR).connection_settings()
    WEB_DATABASE = Server(HUB_DATA_DIR).web_connection_settings()

SECRET_KEY = read_secret_key(HUB_DATA_DIR, is_required=bool(DATABASE_URL))
SECRET_KEY_PATH = None if SECRET_KEY else HUB_DATA_DIR / "secret.key"
SECRET_KEY = SECRET_KEY or load_or_create_secret(HUB_DATA_DIR / "secret.key")
if len(SECRET_KEY) < 32:
    raise StartupError("SECRET_KEY: too short to protect secrets at rest. Set at least 32 random characters.")
METRICS_TOKEN = read_variable_or_file("METRICS_TOKEN")
if not METRICS_TOKEN and not DATABASE_URL:  # several hosts need the same one; only the operator can give it to them
    METRICS_TOKEN = load_or_create_secret(HUB_DATA_DIR / "metrics.token")
SECRET_KEY_FALLBACKS = strip_items(env.list("SECRET_KEY_FALLBACKS", []))

DEBUG = False
ALLOWED_HOSTS = strip_items(env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]", bracket(HUB_HOST)]))
own_name = bracket(LOCAL_HOSTS.get(HUB_HOST, HUB_HOST))  # under which the hub's own programs call it
if own_name not in ALLOWED_HOSTS:
    ALLOWED_HOSTS.append(own_name)
CSRF_TRUSTED_ORIGINS = read_origins("CSRF_TRUSTED_ORIGINS")
BEHIND_TLS = env.bool("BEHIND_TLS", False)
SILENCED_SYSTEM_CHECKS = ["security.W009"]  # asks for 50 characters; the doctor checks SECRET_KEY by the hub's own rule
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31536000
    # The proxy redirects plain HTTP (W008), because browsers reach only the proxy, and only local processes reach the
    # hub. Only the operator knows whether other names of the domain have TLS (W005, W021).
    SILENCED_SYSTEM_CHECKS += ["security.W005", "security.W008", "security.W021"]
elif HUB_HOST in {"127.0.0.1", "::1", "localhost"}:
    # These checks ask for TLS, but only programs of this machine can listen in.
    SILENCED_SYSTEM_CHECKS += ["security.W004", "security.W008", "security.W012", "security.W016"]
# The proxies whose X-Forwarded-For is believed.
TRUSTED_PROXIES = read_networks("TRUSTED_PROXIES")
RATE_LIMIT = read_rate("RATE_LIMIT", 1000)  # requests a second per key; 0: no limit
ADDRESS_RATE_LIMIT = read_rate("ADDRESS_RATE_LIMIT", 100)  # per address, of requests without key and session
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
CSRF_FAILURE_VIEW = "wire.http.failure_middleware.refuse_form"
FAILURE_FRAME = "workspaces.pages.frame.find_failure_frame"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "csp",
    "django_htmx",
    "drf_spectacular",
    "rest_framework",
    "wire",
    "workspaces",
    "catalog",
    "outcomes",
    "intents",
    "alerts",
    "hub",
]

MIDDLEWARE = [
    "wire.http.request_metrics.RequestMetricsMiddleware",
    "wire.http.request_id.RequestIdMiddleware",
    "wire.http.client_address.ClientAddressMiddleware",
    "wire.http.response_headers.ResponseHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "wire.http.response_headers.PageCompressionMiddleware",
    "workspaces.refusal_middleware.RefusalCountMiddleware",
    "wire.http.failure_middleware.FailureMiddleware",
    "wire.http.form_size.FormSizeMiddleware",
    "hub.web.stream_limit.StreamLimitMiddleware",
    "hub.full_disk_middleware.FullDiskMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "workspaces.address_limit_middleware.AddressLimitMiddleware",
    "wire.postgresql.replica_requests.RecentChangeMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

# django-allauth signs people in, with second factors and OpenID Connect; workspaces.people adapts it.
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
SESSION_ENGINE = "workspaces.people.sessions"
CACHES = {  # the counts of sign-in attempts, shared by all processes
    "default": {
        "BACKEND": "workspaces.people.attempt_counts.AttemptCache",
        "LOCATION": "workspaces_attempts",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
EMAIL_URL = env.str("EMAIL_URL", "")
vars().update(read_email())
EMAIL_TIMEOUT = 10  # seconds of silence; wire.mail.smtp limits the whole
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "").strip() or f"affidavit@{HUB_HOST}"
OIDC_ISSUER = read_oidc_issuer()
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", "").strip()
OIDC_CLIENT_SECRET = read_variable_or_file("OIDC_CLIENT_SECRET").strip()
OIDC_NAME = env.str("OIDC_NAME", "").strip() or "single sign-on"
OIDC_ONLY = env.bool("OIDC_ONLY", False)
check_oidc(OIDC_ISSUER, OIDC_CLIENT_ID, only=OIDC_ONLY)
ACCOUNT_ADAPTER = "workspaces.people.account_adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # invitations and OpenID Connect verify addresses
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if BEHIND_TLS else "http"
MFA_ADAPTER = "workspaces.people.second_factors.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {
    "authenticate": "workspaces.people.second_factors.forms.SignInCodeForm",
    "reauthenticate": "workspaces.people.second_factors.forms.ConfirmCodeForm",
    "add_webauthn": "workspaces.people.second_factors.forms.AddPasskeyForm",
    "authenticate_webauthn": "workspaces.people.second_factors.forms.SignInPasskeyForm",
    "reauthenticate_webauthn": "workspaces.people.second_factors.forms.ConfirmPasskeyForm",
}
SOCIALACCOUNT_ADAPTER = "workspaces.people.single_sign_on.provider_adapter.ProviderAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_STORE_TOKENS = False

ROOT_URLCONF = "hub.urls"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Private networks in which webhooks of alerts may be, also without TLS
WEBHOOK_PRIVATE_TARGETS = read_networks("WEBHOOK_PRIVATE_TARGETS")

# An environment shows at most this many operations; further ones are only counted.
MAX_OPERATIONS = read_number("MAX_OPERATIONS", 10_000, "not a number of operations. Set a number from 1 on.")

DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024  # bytes of a form; wire.http.body bounds what machines send
# No page takes files: none is read, and nothing is written to disk.
FILE_UPLOAD_HANDLERS: list[str] = []
DATA_UPLOAD_MAX_NUMBER_FILES = 0

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
            ],
            "builtins": [
                "django.contrib.humanize.templatetags.humanize",
                "workspaces.templatetags.addresses",
                "workspaces.templatetags.numbers",
                "workspaces.templatetags.texts",
                "workspaces.templatetags.times",
                "hub.templatetags.glossary",
            ],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
        },
    }
]

# Transaction poolers lose prepared statements, unless they track them.
DATABASE_PREPARE = env.bool("DATABASE_PREPARE", not DATABASE_URL)
DATABASES = {
    "default": {
        **DATABASE,
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 5,
            "application_name": "affidavit",
            "prepare_threshold": 0 if DATABASE_PREPARE else None,
            **DATABASE.get("OPTIONS", {}),
        },
    }
}
if WEB_DATABASE_URL:
    WEB_DATABASE["OPTIONS"] = {**DATABASES["default"]["OPTIONS"], **web_database.get("OPTIONS", {})}
if REPLICA_DATABASE_URL:
    DATABASE_ROUTERS = ["wire.postgresql.replica.ReplicaRouter"]
    DATABASES["replica"] = read_replica_url(DATABASES["default"])

LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
USE_THOUSAND_SEPARATOR = False

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "static.dist"
STATICFILES_DIRS = [BASE_DIR / "static"]
BUNDLE_ROOT = BASE_DIR / "static.bundles"
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "hub.static_files.vendored.VendoredFinder",
    "hub.static_files.bundles.BundleFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "hub.local.compressed_static_files.HashedNames"},
}
WHITENOISE_MAX_AGE = 3600

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        # plotly.js makes one empty style element, and one that always has the same text: these are the hashes of both.
        # Nothing else is inline.
        "style-src": [
            "'self'",
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
            "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
        ],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["workspaces.authentication.ServiceKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["workspaces.authentication.KeyHasScope"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "wire.http.negotiation.FirstRenderer",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "wire.http.openapi.EndpointSchema",
    "EXCEPTION_HANDLER": "wire.http.problems.handle_exception",
    "NON_FIELD_ERRORS_KEY": "\0",  # no member of a body has this name, because strict JSON refuses NUL
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Affidavit hub",
    "VERSION": None,  # hub.api_docs.document knows it. Here, beat would load the whole package for it.
    "DESCRIPTION": "Signed intents, witness descriptors and outcomes. Errors are application/problem+json.",
    "SERVERS": [{"url": "/"}],
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "SERVE_INCLUDE_SCHEMA": False,
    "ENFORCE_NON_BLANK_FIELDS": True,
}

CELERY_BROKER_URL = read_broker_url()
IS_REDIS = CELERY_BROKER_URL.startswith(("redis://", "rediss://")) and ";" not in CELERY_BROKER_URL
# Where all processes find the token buckets of the rate limits
TOKEN_BUCKETS = (
    "workspaces.limits.redis_buckets.RedisBuckets" if IS_REDIS else "workspaces.limits.database_buckets.DatabaseBuckets"
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # further tasks wait in the broker; in that of files, equal ones wait as one
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # a broker that refuses the worker counts as away
CELERY_WORKER_CONSUMER = "hub.programs.worker_connection:Consumer"
CELERY_IMPORTS = [
    "catalog.ingest.tasks",
    "hub.programs.alert_sender",
    "hub.programs.worker_sweep",
    "hub.retention.tasks",
]
CELERY_BEAT_SCHEDULER = "hub.programs.beat_scheduler:Scheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(HUB_DATA_DIR / "beat")
CELERY_BROKER_TRANSPORT_OPTIONS = list_transport_options(CELERY_BROKER_URL, HUB_DATA_DIR)
if CELERY_BROKER_URL.startswith("filesystem:"):
    CELERY_BROKER_TRANSPORT = "hub.local.filesystem_broker:Transport"
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE

check_tracing()
LOG_LEVEL = env.log_level("LOG_LEVEL", logging.WARNING)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "hub.telemetry.logs.JsonFormatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # 4xx answers are the caller's errors and not logged; wire.http.problems logs failures of the hub.
    "loggers": {
        "django.request": {"level": "CRITICAL"},
        "django.server": {"level": "INFO", "handlers": [], "propagate": True},  # of runserver
        "django.security.DisallowedHost": {"level": "ERROR"},
        "kombu": {"level": "ERROR"},
    },
}
