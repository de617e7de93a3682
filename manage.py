#!/usr/bin/env python
"""Affidavit's command line on the server: `manage.py up` starts everything."""

import os
import sys

from django.core.management import execute_from_command_line

from hub.local import embedded_postgres, startup_errors


def main() -> None:
    """Whatever keeps a command from starting is one clear line, never a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    try:
        with embedded_postgres.lent_to(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except startup_errors.TOLD as error:
        sys.exit(startup_errors.line(error))


if __name__ == "__main__":
    main()
