#!/usr/bin/env python
"""Affidavit's command line on the server: `manage.py up` starts everything."""

import os
import sys

from django.core.management import execute_from_command_line
from environs import EnvError

from hub import embedded
from hub.refusals import Refusal


def main() -> None:
    """Whatever keeps a command from starting is one clear line, never a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    try:
        with embedded.lent_to(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except Refusal as refusal:
        sys.exit(f"affidavit: {refusal}")
    except EnvError as error:
        sys.exit(f"affidavit: {' '.join(str(error).split())} See docs/settings.md.")
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        cure = "Free space, or set HUB_DATA_DIR to a folder of your own."
        sys.exit(f"affidavit: {place}{error.strerror or error}. {cure}")


if __name__ == "__main__":
    main()
