"""`manage.py sign_in_link`: a one-time link for somebody who cannot get in."""

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from workspaces.sign_in import new_link


class Command(BaseCommand):
    help = "Print the path of a link that signs a user in, once, within 15 minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?", default="operator")

    def handle(self, *args: object, username: str, **options: object) -> None:
        user = get_user_model().objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        self.stdout.write(reverse("sign-in-by-link", args=[new_link(user, now=timezone.now())]))
