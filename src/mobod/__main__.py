"""``python -m mobod`` is the command ``mobod``."""

import sys

from .cli.main import main

sys.exit(main())
