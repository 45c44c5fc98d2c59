"""Quantities of a system, computed from its states, one kind a file. `mobod.Measure` is their base class.

See ``docs/how-to/measures.md``.
"""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions as CompiledFunctions
from .constant import Constant as Constant, One as One, Zero as Zero
from .coordinate import Coordinate as Coordinate
from .custom import Custom as Custom, CustomImplementation as CustomImplementation
from .delay import Delay as Delay
from .differentiate import Differentiate as Differentiate
from .energy import Energy as Energy
from .extreme import Extreme as Extreme, MaxAbs as MaxAbs, Maximum as Maximum, MinAbs as MinAbs, Minimum as Minimum
from .function import Function as Function
from .integrate import Integrate as Integrate
from .minus import Minus as Minus
from .plus import Plus as Plus
from .result import Result as Result
from .sample_and_hold import SampleAndHold as SampleAndHold
from .scale import Scale as Scale
from .sinusoid import Sinusoid as Sinusoid
from .station_location import StationLocation as StationLocation
from .time import Time as Time
from .variable import Variable as Variable

explain_names(__name__)
