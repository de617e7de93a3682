#!/usr/bin/env python
"""Affidavit's command line on the server: `manage.py up` starts everything."""

import os
import signal
import sys

from django.core.management import execute_from_command_line
from django.db import DatabaseError

from hub.local.command_output import check_output
from hub.local.error_lines import EXPECTED_ERRORS, NOT_UTF_8, describe_refusal, format_error, is_about_arguments
from hub.local.supervision.stop_signals import unwind_on_signals
from hub.management.database_for_commands import lend_server
from hub.programs.garbage_collection import collect_seldom


def main() -> None:
    """Run one command. An expected error is printed as one line, without a traceback."""
    collect_seldom()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
    unwind_on_signals()
    try:
        with check_output(), lend_server(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except EXPECTED_ERRORS as error:
        sys.exit(format_error(error))
    except UnicodeEncodeError as error:
        if not is_about_arguments(error, sys.argv):
            raise
        sys.exit(NOT_UTF_8)
    except DatabaseError as error:
        if line := describe_refusal(error):
            sys.exit(line)
        raise
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
