"""`python -m tileproof` is the command `tileproof`."""

import sys

from tileproof.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
