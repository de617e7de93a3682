"""`manage.py build_static`: the part of an installation that prepares the files of the pages."""

from django.core.management.base import BaseCommand

from hub.local.compressed_static_files import build


class Command(BaseCommand):
    help = "Collect static files with hashed names and compressed copies, unless they are up to date."
    requires_system_checks = []

    def handle(self, *args: object, **options: object) -> None:
        build()
