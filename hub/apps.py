"""Load the hub's Celery application together with Django's apps, so that every task belongs to it."""

import gc

from django.apps import AppConfig

from hub.celery import app as celery_app

__all__ = ["HubConfig", "celery_app"]


class HubConfig(AppConfig):
    name = "hub"

    def ready(self) -> None:
        """Enable garbage collection, which programs of the hub disable while they are loaded: this app is the last."""
        gc.freeze()
        gc.enable()
