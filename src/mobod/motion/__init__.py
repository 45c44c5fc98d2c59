"""The kinds of prescribed motion, one a file. `mobod.Motion` is their base class."""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions
from .custom import Custom, CustomImplementation
from .sinusoid import Sinusoid
from .steady import Steady

__all__ = ["CompiledFunctions", "Custom", "CustomImplementation", "Sinusoid", "Steady"]

explain_names(__name__)
