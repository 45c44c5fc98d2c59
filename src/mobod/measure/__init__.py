"""Quantities of a system, computed from its states, one kind a file. `mobod.Measure` is their base class.

See ``docs/how-to/measures.md``.
"""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions
from .constant import Constant, One, Zero
from .coordinate import Coordinate
from .custom import Custom, CustomImplementation
from .delay import Delay
from .differentiate import Differentiate
from .energy import Energy
from .extreme import Extreme, MaxAbs, Maximum, MinAbs, Minimum
from .function import Function
from .integrate import Integrate
from .minus import Minus
from .plus import Plus
from .result import Result
from .sample_and_hold import SampleAndHold
from .scale import Scale
from .sinusoid import Sinusoid
from .station_location import StationLocation
from .time import Time
from .variable import Variable

__all__ = [
    "CompiledFunctions",
    "Constant",
    "Coordinate",
    "Custom",
    "CustomImplementation",
    "Delay",
    "Differentiate",
    "Energy",
    "Extreme",
    "Function",
    "Integrate",
    "MaxAbs",
    "Maximum",
    "MinAbs",
    "Minimum",
    "Minus",
    "One",
    "Plus",
    "Result",
    "SampleAndHold",
    "Scale",
    "Sinusoid",
    "StationLocation",
    "Time",
    "Variable",
    "Zero",
]

explain_names(__name__)
