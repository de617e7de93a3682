"""The error that keeps the hub from starting. The module imports no package, because the supervisor loads none."""

from __future__ import annotations


class StartupError(Exception):
    """The hub refuses to start; the message says why and what to do."""
