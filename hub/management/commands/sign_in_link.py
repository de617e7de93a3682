"""`manage.py sign_in_link`: print a link that signs a user in once."""

from datetime import timedelta

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandParser

from hub.local.database.prepare import prepare_unused_database
from hub.local.database.unused_database import refuse_unused_database
from hub.local.ready_line import create_sign_in_address
from hub.local.startup_errors import StartupError
from workspaces.people.sign_in.links import VALID_FOR


class Command(BaseCommand):
    help = f"Print a link that signs a user in, once, within {VALID_FOR // timedelta(minutes=1)} minutes."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", default="operator")

    def handle(self, *args: object, username: str, **options: object) -> None:
        refuse_unused_database()
        prepare_unused_database()  # refuses a database that the next start has to upgrade
        user = get_user_model().objects.filter(username=username).first()
        if user is None:
            raise StartupError(f"there is no user {username}. Make one: manage.py createsuperuser.")
        self.stdout.write(create_sign_in_address(user))
