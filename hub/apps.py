"""Wherever Django's apps are loaded, the tasks belong to the Celery application of the hub."""

from django.apps import AppConfig

from hub.celery import app as celery_app

__all__ = ["HubConfig", "celery_app"]


class HubConfig(AppConfig):
    name = "hub"
