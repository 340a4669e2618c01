"""`python -m regrade.cli` is the `regrade` command."""

import sys

from regrade.cli import main

sys.exit(main())
