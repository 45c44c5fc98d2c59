"""MJCF, MuJoCo's format: one topic a file.

`compiled` has the file compiled by MuJoCo, what it could not find replaced; `source` looks up names; then each file makes parts
of the model of one kind of element: `bodies`, `geoms`, `passive`, `equality`, `tendons`, `actuators`, `collision`,
`keyframes`, `sensors`, `options`. `load` calls them in that order; `conversion` takes states to MuJoCo's numbers and back.
"""

from .conversion import Conversion
from .load import load_mjcf

__all__ = ["Conversion", "load_mjcf"]
