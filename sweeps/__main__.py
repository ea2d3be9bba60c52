"""``python -m sweeps`` is ``setsweep``."""

import sys

from setsweep.sweeps.cli import main

if __name__ == "__main__":
    sys.exit(main())
