"""`manage.py grant_web_role ROLE`: give a database role the rights that web processes need."""

from django.core.management.base import BaseCommand, CommandParser

from hub.local.database.unused_database import refuse_unused_database
from hub.local.database.web_role import grant_web_role
from hub.local.database.written_version import check_written_version


class Command(BaseCommand):
    help = "Let a database role do what web processes need, but not change the audit log. Repeat it after migrations."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role")

    def handle(self, *args: object, role: str, **options: object) -> None:
        refuse_unused_database()
        check_written_version()
        grant_web_role(role)
        self.stdout.write(f"{role} may read and write, and only add to the audit log.")
