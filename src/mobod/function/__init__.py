"""Functions of one or several arguments, with their derivatives, one kind a file. `mobod.Function` is their base class.

They drive the coordinates of a `mobod.mobilizer.FunctionBased`. All but `Custom` also run compiled.
"""

from ..value.attributes import explain_names
from .base import Function
from .constant import Constant
from .custom import Custom
from .expression import Expression
from .gcv_spline import GCVSpline
from .linear import Linear
from .multiplier import Multiplier
from .multivariate_polynomial import MultivariatePolynomial
from .piecewise_constant import PiecewiseConstant
from .piecewise_linear import PiecewiseLinear
from .piecewise_polynomial import PiecewisePolynomial
from .polynomial import Polynomial
from .simm_spline import SimmSpline
from .sinusoid import Sinusoid
from .spline import Spline
from .step import Step
from .table import Table

#: The kinds that compiled code can evaluate, for tests that hold for all of them.
KINDS = (
    *(Constant, Linear, Polynomial, Sinusoid, Step, Spline, SimmSpline, GCVSpline, PiecewiseLinear, PiecewiseConstant),
    *(Expression, Multiplier, Table, PiecewisePolynomial, MultivariatePolynomial),
)

__all__ = [
    "KINDS",
    "Constant",
    "Custom",
    "Expression",
    "Function",
    "GCVSpline",
    "Linear",
    "Multiplier",
    "MultivariatePolynomial",
    "PiecewiseConstant",
    "PiecewiseLinear",
    "PiecewisePolynomial",
    "Polynomial",
    "SimmSpline",
    "Sinusoid",
    "Spline",
    "Step",
    "Table",
]

explain_names(__name__)
