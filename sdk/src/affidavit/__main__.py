"""`python -m affidavit` is the command `affidavit`."""

import sys

from ._cli import main

sys.exit(main())
