"""`manage.py up`: run the whole hub on this machine, until Ctrl-C."""

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.utils import timezone

from hub.doctor.variables import warn_of_misspelt_names
from hub.local.up import build_address, run_hub
from workspaces.people.sign_in_links import create_link

OPERATOR = "operator"


class Command(BaseCommand):
    help = "Start PostgreSQL, the web server and the worker; print the address and, on a terminal, a sign-in link."
    requires_system_checks = []
    requires_migrations_checks = False

    def handle(self, *args: object, **options: object) -> None:
        warn_of_misspelt_names()
        run_hub(write_ready_line=self.write_ready_line)

    def write_ready_line(self) -> str:
        """Return the line that a start prints. On a terminal, which keeps no log, it has a sign-in link.

        The link is for the user `operator`, who may open every workspace of this hub.
        """
        operator, _ = get_user_model().objects.get_or_create(
            username=OPERATOR, defaults={"is_superuser": True, "is_staff": True}
        )
        if not operator.password:
            operator.set_unusable_password()  # an empty password would count as set
            operator.save(update_fields=["password"])
        address = build_address(local=True)
        way_in = "Sign in with a link of `manage.py sign_in_link`."
        if self.stdout.isatty():
            link = f"{address}/sign-in/{create_link(operator, now=timezone.now())}"
            way_in = f"Sign in once with {link} (15 minutes)."
        return f"Affidavit is ready at {address}. {way_in}"
