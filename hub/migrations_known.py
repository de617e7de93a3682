"""Is the database newer than this code?"""

from django.db import connection
from django.db.migrations.loader import MigrationLoader

from hub.refusals import Refusal


def refuse_newer_database() -> None:
    """Raises Refusal where the database holds migrations of our apps that this version does not know."""
    loader = MigrationLoader(connection)
    ours = {app for app, _ in loader.disk_migrations}
    unknown = [key for key in loader.applied_migrations if key[0] in ours and key not in loader.disk_migrations]
    if unknown:
        app, name = sorted(unknown)[0]
        raise Refusal(
            f"the database was written by a newer version of Affidavit (it has {app}.{name}). "
            "Install that version, or restore a backup made by this one."
        )
