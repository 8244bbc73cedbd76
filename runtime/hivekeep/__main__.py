"""`python -m hivekeep`: the command line, where the script is not on the path."""

import sys

from hivekeep.cli import main

sys.exit(main())
