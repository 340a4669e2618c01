"""The stage's command line."""

import sys

from regrade.errors import ending_in_one_line
from regrade.inputs.stage import main

with ending_in_one_line("the inputs"):
    main(*sys.argv[1:])
