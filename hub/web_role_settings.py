"""The settings of the web processes: those of the hub, with a role of their own (hub.local.database.web_role)."""

from hub.settings import *  # noqa: F403  # how one settings module varies another
from hub.settings import DATABASES, WEB_DATABASE

DATABASES["default"].update(WEB_DATABASE)
