"""Load the hub's Celery application together with Django's apps, so that every task belongs to it."""

from django.apps import AppConfig

from hub.celery import app as celery_app

__all__ = ["HubConfig", "celery_app"]


class HubConfig(AppConfig):
    name = "hub"
