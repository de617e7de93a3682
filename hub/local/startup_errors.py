"""The error of whatever keeps the hub from starting. This module needs no package, for processes that stay small."""

from __future__ import annotations


class StartupError(Exception):
    """The hub refuses to start; the message says why and what to do."""
