"""``python -m mobod`` is the command ``mobod``."""

import sys

from .cli import main

sys.exit(main())
