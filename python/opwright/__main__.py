"""`python -m opwright …` is the program `opwright …`."""

import sys

from ._binary import main

sys.exit(main())
