#!/usr/bin/env python
"""Affidavit's command line on the server: `manage.py up` starts everything."""

import os
import sys

from django.core.management import execute_from_command_line
from environs import EnvError

from hub import embedded
from hub.refusals import Refusal


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    try:
        with embedded.lent_to(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except (Refusal, EnvError) as refusal:
        sys.exit(f"affidavit: {refusal}")


if __name__ == "__main__":
    main()
