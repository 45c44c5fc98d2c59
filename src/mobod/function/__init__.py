"""Functions of one or several arguments, with their derivatives, one kind a file. `mobod.Function` is their base class.

They drive the coordinates of a `mobod.mobilizer.FunctionBased`. All but `Custom` also run compiled.
"""

from ..value.attributes import explain_names
from .base import Function as Function
from .constant import Constant as Constant
from .custom import Custom as Custom
from .expression import Expression as Expression
from .gcv_spline import GCVSpline as GCVSpline
from .linear import Linear as Linear
from .multiplier import Multiplier as Multiplier
from .multivariate_polynomial import MultivariatePolynomial as MultivariatePolynomial
from .piecewise_constant import PiecewiseConstant as PiecewiseConstant
from .piecewise_linear import PiecewiseLinear as PiecewiseLinear
from .piecewise_polynomial import PiecewisePolynomial as PiecewisePolynomial
from .polynomial import Polynomial as Polynomial
from .simm_spline import SimmSpline as SimmSpline
from .sinusoid import Sinusoid as Sinusoid
from .spline import Spline as Spline
from .step import Step as Step
from .table import Table as Table

explain_names(__name__)
