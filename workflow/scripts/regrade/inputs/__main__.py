"""The stage's command line."""

import sys

from regrade.errors import RegradeError
from regrade.inputs.stage import main

try:
    main(*sys.argv[1:])
except RegradeError as error:
    sys.exit(str(error))
