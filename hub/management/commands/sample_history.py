"""`manage.py sample_history`: what is missing of the sample workspace's 30 days; `up` calls it."""

from django.core.management.base import BaseCommand

from hub import sample
from hub.sample_history import make


class Command(BaseCommand):
    help = "Make what is missing of the sample workspace's history."
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        found = sample.found()
        if found:
            make(*found)
