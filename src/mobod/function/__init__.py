"""Functions of one or several arguments, with their derivatives, one kind a file. `mobod.Function` is their base class.

They drive the coordinates of a `mobod.mobilizer.FunctionBased`. All but `Custom` also run compiled.
"""

from ..value.attributes import explain_names
from .base import Function
from .constant import Constant
from .custom import Custom
from .linear import Linear
from .polynomial import Polynomial
from .sinusoid import Sinusoid
from .spline import Spline
from .step import Step

#: The kinds that compiled code can evaluate, for tests that hold for all of them.
KINDS = (Constant, Linear, Polynomial, Sinusoid, Step, Spline)

__all__ = ["KINDS", "Constant", "Custom", "Function", "Linear", "Polynomial", "Sinusoid", "Spline", "Step"]

explain_names(__name__)
