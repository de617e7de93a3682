"""`manage.py sign_in_link`: print a link that signs a user in once."""

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse
from django.utils import timezone

from hub.local.database import prepare_unused_database, refuse_unused_database
from hub.local.run_hub import build_address
from hub.local.startup_errors import StartupError
from workspaces.people.sign_in.links import create_link


class Command(BaseCommand):
    help = "Print a link that signs a user in, once, within 15 minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", default="operator")

    def handle(self, *args: object, username: str, **options: object) -> None:
        refuse_unused_database()
        prepare_unused_database()  # refuses a database that the next start has to upgrade
        user = get_user_model().objects.filter(username=username).first()
        if user is None:
            raise StartupError(f"there is no user {username}. Make one: manage.py createsuperuser.")
        path = reverse("sign-in-by-link", args=[create_link(user, now=timezone.now())])
        self.stdout.write(build_address(local=True) + path)
