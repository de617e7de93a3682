"""Wiring only: settings, addresses, processes, and the pages that need several domains."""

from hub.celery import app as celery_app

__all__ = ["celery_app"]
